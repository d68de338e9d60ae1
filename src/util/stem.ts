/** The stem of an English word: `trains` and `train`, `summariser` and `summarise` have the same. */
export function stem(word: string): string {
  let short = word
    .toLowerCase()
    .replace(/['’]s?$/, '')
    .replace(/^e-?mail/, 'mail')
  short = short.replace(/(is|iz)(e|es|ed|er|ers|ing|ation|ations)$/, 'is$2')
  for (const [suffix, instead, shortest] of suffixes) {
    if (short.length - suffix.length >= shortest && short.endsWith(suffix)) {
      short = undouble(short.slice(0, -suffix.length) + instead)
      break
    }
  }
  return short.length > 3 && short.endsWith('e') ? short.slice(0, -1) : short
}

const suffixes: readonly [suffix: string, instead: string, shortest: number][] = [
  ['ations', 'at', 3],
  ['ation', 'at', 3],
  ['ings', '', 3],
  ['ing', '', 3],
  ['ies', 'y', 2],
  ['ers', '', 4],
  ['ors', '', 4],
  ['sses', 'ss', 1],
  ['ches', 'ch', 1],
  ['shes', 'sh', 1],
  ['xes', 'x', 1],
  ['ss', 'ss', 0],
  ['us', 'us', 0],
  ['is', 'is', 0],
  ['s', '', 3],
  ['ied', 'y', 2],
  ['ed', '', 3],
  ['ly', '', 4],
  ['er', '', 4],
  ['or', '', 4],
]

function undouble(text: string): string {
  return /([bdgklmnprt])\1$/.test(text) ? text.slice(0, -1) : text
}
