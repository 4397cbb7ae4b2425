import { type PdfPage, pdfOf } from './pdf.ts';

export const README = `# Field course “Coast and mountains”

Welcome! Everything for the week is in these folders.

| day | where | what |
|---|---|---|
| Monday | harbour | tides, *Fucus* zones, first transect |
| Tuesday | dunes | wind, sand, marram grass |
| Wednesday | lake | plankton, oxygen profile |
| Thursday | forest | lichens as a sign of clean air |
| Friday | pass | snow, freezing point, the way home |

## Bring

- [x] rubber boots and a warm pullover
- [x] a notebook that survives rain
- [ ] your own hand lens (we have six)

## Hand in

One page per group, as **PDF**, into the folder *Hand in here* until Sunday evening.
Questions: ask in the course, or write to anybody of the team.

> The sea, once it casts its spell, holds one in its net of wonder forever.
`;

export const THESIS = [
  `# Salt, wind and light

## 1 Introduction

Plants of the shore live between two seas: one of water and one of air.
`,
  `# Salt, wind and light

## 1 Introduction

Plants of the shore live between two seas: one of water and one of air.
This work asks which of the two decides where marram grass ends.

## 2 Methods

We counted stems on twelve transects of fifty metres.
`,
  `# Salt, wind and light

*How far from the sea does marram grass grow?*

## 1 Introduction

Plants of the shore live between two seas: one of water and one of air.
This work asks which of the two decides where marram grass ends.

## 2 Methods

We counted stems on twelve transects of fifty metres, in May and in September.
Salt was measured by conductivity ([measurements.csv](measurements.csv)), wind at 2 m.

## 3 Results

The density of stems falls with the salt in the soil, and hardly with the wind:

\`\`\`text
density = 48.2 − 6.1 × conductivity      r² = 0.87
\`\`\`

See *Figure 1.svg*.

## 4 Discussion

- Salt explains most of what we saw.
- Two transects do not fit; both lie behind the new sea wall.
`,
];

export const ANALYSIS = `"""Fits the density of stems against the conductivity of the soil."""
import csv
from statistics import linear_regression, correlation

with open("measurements.csv") as file:
    rows = [(float(row["conductivity"]), float(row["stems"])) for row in csv.DictReader(file)]

salt, stems = zip(*rows)
slope, intercept = linear_regression(salt, stems)
print(f"density = {intercept:.1f} {slope:+.1f} × conductivity, r² = {correlation(salt, stems) ** 2:.2f}")
`;

export const PACKING = `# Packing list

- [x] rubber boots
- [x] rain coat, warm pullover
- [x] hand lens, ruler, pencil
- [ ] water bottle
- [ ] sun cream, yes, also in April
`;

export const REFERENCES = `@article{huiskes1979,
  author  = {Huiskes, A. H. L.},
  title   = {Biological flora of the British Isles: Ammophila arenaria},
  journal = {Journal of Ecology},
  year    = {1979}
}
`;

const TRANSECTS = 48;

/** Conductivity and stems of each square: a line with some scatter. */
function squares(): { readonly square: number; readonly salt: number; readonly stems: number }[] {
  return Array.from({ length: TRANSECTS }, (_, square) => {
    const salt = 0.6 + ((square * 37) % TRANSECTS) * 0.14;
    return { square: square + 1, salt, stems: Math.max(0, 48.2 - 6.1 * salt + 5 * Math.sin(square * 2.4)) };
  });
}

export const measurements = (): string =>
  ['square,date,conductivity,stems']
    .concat(
      squares().map(
        ({ square, salt, stems }) =>
          `${square},2026-05-${String(1 + (square % 28)).padStart(2, '0')},${salt.toFixed(2)},${stems.toFixed(0)}`,
      ),
    )
    .join('\n');

export function figure(): string {
  const dots = squares().map(
    ({ salt, stems }) => `<circle cx="${(60 + salt * 68).toFixed(1)}" cy="${(330 - stems * 5.6).toFixed(1)}" r="4"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 400" font-family="sans-serif" font-size="14">
<rect width="600" height="400" fill="#fff"/>
<path d="M60 30V330H570" fill="none" stroke="#555"/>
<path d="M100 83L560 324" stroke="#c2571a" stroke-width="2"/>
<g fill="#4450c8" fill-opacity=".7">${dots.join('')}</g>
<text x="315" y="370" text-anchor="middle">conductivity, mS/cm</text>
<text x="24" y="180" text-anchor="middle" transform="rotate(-90 24 180)">stems on a square metre</text>
</svg>
`;
}

export const budget = (): string =>
  [
    'item,unit price,count,sum',
    'bus,1240.00,1,1240.00',
    'hostel,34.50,96,3312.00',
    'hand lenses,12.80,6,76.80',
    'boat,410.00,2,820.00',
    'rubber boots,19.90,8,159.20',
  ].join('\n');

/** A lecture, with a photograph on its first page. */
interface Lecture {
  readonly title: string;
  readonly photo: string;
  readonly pages: readonly [PdfPage, ...PdfPage[]];
}

const LECTURES: readonly Lecture[] = [
  {
    title: 'Light and colour',
    photo: 'Last light.png',
    pages: [
      {
        heading: 'What is a colour?',
        paragraphs: [
          'Light is the part of the electromagnetic spectrum that eyes can see: waves of 380 to 750 nanometres. What we call a ' +
            'colour is a mixture of them, weighed by three kinds of cones.',
          'A surface has no colour of its own. It takes some waves and sends back the others; a leaf keeps red and blue and ' +
            'returns green, because chlorophyll has little use for it.',
        ],
      },
      {
        heading: 'Why the sky is blue',
        paragraphs: [
          'Molecules of the air scatter short waves more than long ones, by the fourth power of the frequency. Blue light ' +
            'reaches us from all directions, red light mostly straight from the sun.',
          'In the evening the way through the air is forty times as long. What is left of the light is what was scattered least.',
        ],
      },
    ],
  },
  {
    title: 'Tides',
    photo: 'Fjord at noon.png',
    pages: [
      {
        heading: 'Two hills of water',
        paragraphs: [
          'The moon pulls the near side of the sea more than the middle of the Earth, and the far side less. So there are two ' +
            'hills of water, and the Earth turns below them.',
          'Where the tide comes in with the wind, add half a metre to the table and stay above the seaweed.',
        ],
      },
      {
        heading: 'Springs and neaps',
        paragraphs: [
          'At new and full moon the sun pulls along the same line, and the range is largest: a spring tide. A week later it ' +
            'pulls across, and the range is smallest: a neap tide.',
          'The shape of the coast does the rest. A funnel makes a metre into eight, and a sound with two mouths may have none.',
        ],
      },
    ],
  },
  {
    title: 'Lichens',
    photo: 'Forest in the fog.png',
    pages: [
      {
        heading: 'A fungus that has discovered agriculture',
        paragraphs: [
          'A lichen is a fungus with algae in it: it gives them a roof, and they feed it. Most of them tolerate no sulphur ' +
            'dioxide, so a trunk full of beards is a good sign.',
          'Count five trunks, on the side of the wind, between one and two metres above the ground.',
        ],
      },
    ],
  },
];

/** Returns the lectures as PDFs, by name. `photo` draws the photograph of a name. */
export const lectures = (photo: (name: string) => Promise<Buffer>): Promise<[name: string, pdf: Buffer][]> =>
  Promise.all(
    LECTURES.map(async ({ title, photo: name, pages: [first, ...others] }, at) => [
      `0${at + 1} ${title}.pdf`,
      pdfOf(title, `Lecture ${at + 1} of the field course`, [{ ...first, picture: await photo(name) }, ...others]),
    ]),
  );

export const TIMETABLE = `day,from,to,what,where
Monday,09:00,12:00,Tides and zones,harbour
Monday,14:00,17:00,First transect,north beach
Tuesday,09:00,12:00,Wind and sand,dunes
Tuesday,14:00,17:00,Marram grass,dunes
Wednesday,09:00,12:00,Plankton,lake
Wednesday,14:00,17:00,Oxygen profile,lake
Thursday,09:00,12:00,Lichens,forest
Thursday,14:00,17:00,Writing,hostel
Friday,09:00,13:00,Snow and the way home,pass
`;

export const SPECIES = `species,name,zone,found
Fucus vesiculosus,bladder wrack,middle shore,38
Fucus serratus,toothed wrack,lower shore,21
Ammophila arenaria,marram grass,dunes,412
Eryngium maritimum,sea holly,dunes,9
Xanthoria parietina,common orange lichen,trees,77
Usnea filipendula,fishbone beard lichen,trees,3
Littorina littorea,common periwinkle,middle shore,154
`;

export const GROUPS = `# Groups

1. **Waves**: Amara, Björn
2. **Dunes**: Carla, Daniel
3. **Lichens**: Freya, Hugo

Each group has a boat, a bucket and a deadline.
`;

export const hostel = (): Buffer =>
  pdfOf('Hostel and bus', 'The team of the field course', [
    {
      heading: 'Where we sleep',
      paragraphs: [
        'The hostel stands behind the second row of dunes. Breakfast is from 7 to 8, and the kitchen closes at 22.',
        'There is one key for every bedroom. Whoever has it is the last to go to bed.',
      ],
    },
  ]);

export const safety = (): Buffer =>
  pdfOf('Safety at the shore', 'The team of the field course', [
    {
      heading: 'Before you go out',
      paragraphs: [
        'Nobody goes out alone. Read the table of the tides, tell the hostel when you will be back, and take a charged phone.',
        'The flood comes through the channels first, behind you. When the water in the channel moves, turn round.',
      ],
    },
  ]);

export const letter = (): Buffer =>
  pdfOf('Letter to the families', 'The team of the field course', [
    {
      heading: 'A week at the sea',
      paragraphs: [
        'From 12 to 16 April we travel to the coast. The bus leaves at 7:30 in front of the main building.',
        'Please sign the second page and give it to your group. Whoever cannot swim says so now, not at the pier.',
      ],
    },
    { heading: 'Consent', paragraphs: ['Name, date and signature:', '____________________________________________'] },
  ]);
