import {
  defaultDropdownAppearanceProvider,
  PDFButton,
  PDFDict,
  PDFDropdown,
  type PDFDocument,
  type PDFField,
  type PDFFont,
  PDFHexString,
  PDFName,
  PDFOptionList,
  PDFString,
  PDFTextField,
} from '@cantoo/pdf-lib';

/** A text outside the pages' content, and how to replace it. */
export interface Field {
  readonly text: string;
  replace(text: string, font: PDFFont): void;
}

const USUAL_SIZE = 12;
/** Noto Sans reaches far above and below its letters. */
const SHARE_OF_HEIGHT = 0.55;
const MAX_BOOKMARKS = 10_000;

/** Returns a document's texts outside its pages: values and choices of its form, bookmarks, its title. */
export const fieldsOf = (document: PDFDocument): Field[] => [...formFields(document), ...bookmarks(document), ...title(document)];

function title(document: PDFDocument): Field[] {
  const text = document.getTitle();
  return text === undefined ? [] : [{ text, replace: (translated) => document.setTitle(translated) }];
}

function formFields(document: PDFDocument): Field[] {
  if (!document.catalog.has(PDFName.of('AcroForm'))) return [];
  return document
    .getForm()
    .getFields()
    .flatMap((field) => {
      const hint = tooltip(field.acroField.dict);
      if (field instanceof PDFTextField) return [...hint, ...textValue(field)];
      if (field instanceof PDFDropdown || field instanceof PDFOptionList) return [...hint, ...choices(field)];
      return field instanceof PDFButton ? [...hint, ...captions(field)] : hint;
    });
}

const asText = (value: unknown): string | undefined =>
  value instanceof PDFString || value instanceof PDFHexString ? value.decodeText() : undefined;

function tooltip(dict: PDFDict): Field[] {
  const text = asText(dict.lookup(PDFName.of('TU')));
  return text === undefined
    ? []
    : [{ text, replace: (translated) => dict.set(PDFName.of('TU'), PDFHexString.fromText(translated)) }];
}

function textValue(field: PDFTextField): Field[] {
  if (field.isCombed() || field.isPassword() || field.isRichFormatted()) return [];
  const text = field.getText();
  if (text === undefined) return [];
  const replace = (translated: string, font: PDFFont): void => {
    // A translation may be longer than the text that a person may type.
    field.setMaxLength();
    field.setText(translated);
    field.setFontSize(sizeFor(field, translated, font));
    field.updateAppearances(font);
  };
  return [{ text, replace }];
}

/** Returns the size at which a text fits in all widgets of its field; the usual size for several lines. */
function sizeFor(field: PDFField, text: string, font: PDFFont): number {
  if (field instanceof PDFTextField && field.isMultiline()) return USUAL_SIZE;
  const sizes = field.acroField.getWidgets().map((widget) => {
    const { width, height } = widget.getRectangle();
    return Math.min(height * SHARE_OF_HEIGHT, (width - 6) / Math.max(1, font.widthOfTextAtSize(text, 1)));
  });
  return Math.max(4, Math.min(USUAL_SIZE, ...sizes));
}

/** Translates the displayed choices; the values that a form sends stay unchanged. */
function choices(field: PDFDropdown | PDFOptionList): Field[] {
  const options = field.acroField.getOptions();
  return options.flatMap((option, index) => {
    const text = option.display.decodeText();
    const isChosen = field.getSelected().includes(option.value.decodeText());
    const replace = (translated: string, font: PDFFont): void => {
      options[index] = { value: option.value, display: PDFHexString.fromText(translated) };
      field.acroField.setOptions(options as never);
      if (isChosen && field instanceof PDFDropdown) {
        field.setFontSize(sizeFor(field, translated, font));
        const shown = Object.assign(Object.create(field) as PDFDropdown, { getSelected: () => [translated] });
        field.updateAppearances(font, (_, widget, ofFont) => defaultDropdownAppearanceProvider(shown, widget, ofFont));
      }
    };
    return [{ text, replace }];
  });
}

function captions(field: PDFButton): Field[] {
  return field.acroField.getWidgets().flatMap((widget) => {
    const appearance = widget.getAppearanceCharacteristics();
    const text = appearance?.getCaptions().normal;
    if (!appearance || text === undefined) return [];
    const replace = (translated: string, font: PDFFont): void => {
      appearance.setCaptions({ normal: translated });
      field.setFontSize(sizeFor(field, translated, font));
      field.updateAppearances(font);
    };
    return [{ text, replace }];
  });
}

function bookmarks({ catalog }: PDFDocument): Field[] {
  const found: Field[] = [];
  const seen = new Set<PDFDict>();
  const next = [catalog.lookup(PDFName.of('Outlines'))];
  for (let item = next.pop(); item instanceof PDFDict && found.length < MAX_BOOKMARKS; item = next.pop()) {
    if (!seen.has(item)) {
      seen.add(item);
      const dict = item;
      const text = asText(dict.lookup(PDFName.of('Title')));
      if (text !== undefined)
        found.push({ text, replace: (translated) => dict.set(PDFName.of('Title'), PDFHexString.fromText(translated)) });
      for (const key of ['First', 'Next']) {
        const other = dict.lookup(PDFName.of(key));
        if (other instanceof PDFDict) next.push(other);
      }
    }
  }
  return found;
}
