import { expect, it } from 'vitest'
import { readValues } from './values.ts'
import { readWords } from './words.ts'

const values = (text: string) =>
  readValues({ text, words: readWords(text), spent: new Set() }).map(({ kind, cue, name, text: value, number, unit }) =>
    [kind, cue && `<${cue}>`, number ?? value, unit && `(${unit})`, name && name !== value && `[${name}]`].filter(Boolean).join(' '),
  )

it.each([
  ['from Oslo to Bergen', ['phrase <from> Oslo', 'phrase <to> Bergen']],
  ['in Oslo, Bergen and Voss', ['phrase <in> Oslo', 'phrase <in> Bergen', 'phrase <in> Voss']],
  ['about the history of Rome', ['phrase <about> history of Rome [Rome]']],
  ['two nights in New York tomorrow', ['number 2 (night)', 'phrase nights', 'phrase <in> New York', 'date tomorrow']],
  ['20 °C', ['number 20 (c)', 'phrase C']],
  ['to a@b.example saying "hi" at 3pm', ['email <to> a@b.example', 'quote <saying> hi', 'time <at> 3pm']],
  ['saying we are late and sorry', ['phrase <tail> we are late and sorry', 'phrase <saying> late', 'phrase <saying> sorry']],
  ['this one and that', []],
  ['what is it?', []],
])('%s', (text, expected) => {
  expect(values(text)).toEqual(expected)
})
