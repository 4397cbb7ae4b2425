import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { t } from '../../../text/preview.ts';
import { safeAddress } from './safe-address.ts';
import { withoutTags } from './without-tags.ts';

interface Props {
  readonly text: string;
  readonly onLink: (href: string) => void;
}

type Follow = Props['onLink'];

/**
 * A Markdown text. Its tokens become elements here, one by one: nothing of the text is ever read as HTML, and tags in it are
 * left out.
 */
export const Markdown = ({ text, onLink }: Props) => <main class="markdown">{blocks(lexer(text), onLink)}</main>;

const blocks = (tokens: readonly Token[], follow: Follow): ComponentChildren =>
  tokens.map((token) => element(token as MarkedToken, follow));

function element(token: MarkedToken, follow: Follow): ComponentChildren {
  switch (token.type) {
    case 'heading': {
      const Heading = `h${token.depth}` as 'h1';
      return <Heading id={anchorOf(token.text)}>{blocks(token.tokens, follow)}</Heading>;
    }
    case 'paragraph':
      return <p>{blocks(token.tokens, follow)}</p>;
    case 'blockquote':
      return <blockquote>{blocks(token.tokens, follow)}</blockquote>;
    case 'list':
      return list(token, follow);
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'table':
      return table(token, follow);
    case 'hr':
      return <hr />;
    case 'strong':
      return <strong>{blocks(token.tokens, follow)}</strong>;
    case 'em':
      return <em>{blocks(token.tokens, follow)}</em>;
    case 'del':
      return <del>{blocks(token.tokens, follow)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return link(token, follow);
    case 'image':
      return image(token);
    case 'checkbox':
      return <input type="checkbox" checked={token.checked} disabled aria-label={t(token.checked ? 'taskDone' : 'taskOpen')} />;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? blocks(token.tokens, follow) : characters(token.text);
    case 'html':
      return /^<br\s*\/?>$/i.test(token.raw.trim()) ? <br /> : characters(withoutTags(token.raw));
    case 'def':
    case 'list_item':
    case 'space':
      return null;
  }
}

const list = ({ ordered, start, items }: Tokens.List, follow: Follow): ComponentChildren => {
  const entries = items.map((item) => <li class={item.task ? 'markdown-task' : undefined}>{blocks(item.tokens, follow)}</li>);
  return ordered ? <ol start={start === '' ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
};

const table = ({ header, rows }: Tokens.Table, follow: Follow): ComponentChildren => (
  // A wide table scrolls by keyboard too.
  <div class="markdown-table" role="group" aria-label={t('table')} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {header.map(({ tokens, align }) => (
            <th scope="col" class={align ? `markdown-${align}` : undefined}>
              {blocks(tokens, follow)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {row.map(({ tokens, align }) => (
              <td class={align ? `markdown-${align}` : undefined}>{blocks(tokens, follow)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

/** A link within the text goes there; one of the web is opened by the page, which asks. Others are text. */
function link({ href, title, tokens }: Tokens.Link, follow: Follow): ComponentChildren {
  const content = blocks(tokens, follow);
  if (href.startsWith('#')) return <a href={href}>{content}</a>;
  const address = safeAddress(href);
  if (address === undefined) return <span title={href}>{content}</span>;
  const open = (event: MouseEvent): void => {
    event.preventDefault();
    follow(address);
  };
  return (
    <a href={address} title={title ?? address} onClick={open}>
      {content}
    </a>
  );
}

/** The frame has no network, so that nobody learns who reads the text: only pictures within it are shown. */
function image({ href, text }: Tokens.Image): ComponentChildren {
  if (/^data:image\/(png|jpeg|gif|webp);/i.test(href)) return <img src={href} alt={text} />;
  return <span class="markdown-image">{text === '' ? t('picture') : t('pictureOf', { text })}</span>;
}

/** Text with its character references (`&amp;`) resolved: in a document that is never shown, and in which nothing runs. */
function characters(text: string): string {
  if (!text.includes('&')) return text;
  // The first letter is ours: a parser drops spaces at the beginning of a document.
  const { body } = new DOMParser().parseFromString(`_${text.replaceAll('<', '&lt;')}`, 'text/html');
  return body.textContent.slice(1);
}

/** The id of a heading, as others make it: "What is new?" → `what-is-new`. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
