/** Names of the letters from 160 on, in order. */
const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest ' +
  'Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig ' +
  'agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'

/** Further ones that pages do use. The many hundred others stay as they are written. */
const further: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  OElig: 'Œ',
  oelig: 'œ',
  Scaron: 'Š',
  scaron: 'š',
  Yuml: 'Ÿ',
  fnof: 'ƒ',
  circ: 'ˆ',
  tilde: '˜',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  dagger: '†',
  Dagger: '‡',
  bull: '•',
  hellip: '…',
  permil: '‰',
  prime: '′',
  Prime: '″',
  lsaquo: '‹',
  rsaquo: '›',
  euro: '€',
  trade: '™',
  larr: '←',
  uarr: '↑',
  rarr: '→',
  darr: '↓',
  harr: '↔',
  rArr: '⇒',
  minus: '−',
  infin: '∞',
  asymp: '≈',
  ne: '≠',
  le: '≤',
  ge: '≥',
  check: '✓',
  lbrack: '[',
  rbrack: ']',
  lpar: '(',
  rpar: ')',
  lowbar: '_',
  num: '#',
  colon: ':',
  semi: ';',
  comma: ',',
  period: '.',
  excl: '!',
  quest: '?',
  sol: '/',
  bsol: '\\',
  grave: '`',
  ast: '*',
  plus: '+',
  equals: '=',
  dollar: '$',
  percnt: '%',
  commat: '@',
  lcub: '{',
  rcub: '}',
  verbar: '|',
  vert: '|',
  nobreak: '',
  zwnj: '',
  zwj: '',
  lrm: '',
  rlm: '',
  Tab: '\t',
  NewLine: '\n',
}

const named = new Map([
  ...latin.split(' ').map((name, index) => [name, String.fromCodePoint(160 + index)] as const),
  ...Object.entries(further),
])

const reference = /&(?:#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,10}))|([a-zA-Z][a-zA-Z0-9]{1,31}));?/g

/** The text that stands behind references such as `&amp;` and `&#38;`. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(reference, (...found: (string | undefined)[]) => {
    const [written = '', hex, decimal, name] = found
    if (name !== undefined) return named.get(name) ?? written
    return letter(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

const replacement = '\uFFFD'
const windows = new TextDecoder('windows-1252')

function letter(code: number): string {
  if (code === 0 || code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) return replacement
  // Pages mean the letters of Windows where they name control characters, and browsers show those.
  return code >= 0x80 && code <= 0x9f ? windows.decode(Uint8Array.of(code)) : String.fromCodePoint(code)
}
