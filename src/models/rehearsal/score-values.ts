import type { Json } from '../../contracts/index.ts'
import { fitsNumber, fitsText } from './conforms.ts'
import { clockTime, isoDate } from './numbers-and-dates.ts'
import type { Parameter, Role } from './parameters.ts'
import type { Value, ValueKind } from './values.ts'
import { means } from './vocabulary.ts'

// How well a value of a request fits a parameter: 0 is not at all, 10 is a value that follows the parameter's name.

const named = 10
/** Enough to be taken from another part of the conversation. */
export const convincing = 5

type Cues = { readonly [cue: string]: number }

/** Scores of prepositions, by role. `''` is a value without one. */
const cues: { readonly [R in Role]: Cues } = {
  origin: { from: 9 },
  destination: { to: 9, into: 7, towards: 8, toward: 8, in: 5 },
  place: { in: 9, at: 7, near: 8, around: 7, for: 6, to: 6, of: 5, from: 4, about: 4, '': 4 },
  recipient: { to: 8, for: 3, with: 3, '': 4 },
  date: {},
  time: {},
  path: { in: 6, into: 6, to: 5, from: 6, of: 5, under: 6, '': 3 },
  url: {},
  topic: { about: 9, on: 7, regarding: 9, concerning: 9, for: 4, '': 3 },
  title: { called: 9, named: 9, titled: 9, ':': 9, to: 6, about: 6, for: 5, '': 4 },
  content: { tail: 9.5, saying: 9, ':': 9, about: 3, with: 3, '': 4 },
  command: { ':': 9, '': 5 },
  query: { for: 8, about: 7, matching: 9, containing: 9, called: 7, named: 7, ':': 9, '': 4 },
  prompt: {},
  person: { with: 9, for: 6, to: 6, by: 5, '': 3 },
  unit: { to: 8, into: 8, in: 8, as: 7, '': 3 },
  language: { into: 9, to: 8, in: 8, from: 3, '': 3 },
  identifier: { '': 3, for: 3, with: 3 },
  other: { for: 3, with: 3, in: 3, of: 3, on: 3, about: 3, to: 2, from: 2, '': 3 },
}

/** Scores of the form of a value, by role. A value of another form can still fit by its preposition. */
const forms: { readonly [R in Role]?: { readonly [K in ValueKind]?: number } } = {
  recipient: { email: 11 },
  date: { date: 9 },
  time: { time: 9 },
  path: { path: 9, quote: 6 },
  url: { url: 9 },
  topic: { quote: 7 },
  title: { quote: 8 },
  content: { quote: 8 },
  command: { quote: 9 },
  query: { quote: 9, email: 4, url: 4 },
  person: { email: 8 },
  identifier: { quote: 6, number: 5 },
  other: { quote: 5, path: 2, email: 2, url: 2, date: 2 },
}

const asText = new Set<ValueKind>(['phrase', 'quote'])
/** Of a phrase that contains a proper name, these roles take the name only. */
const nameRoles = new Set<Role>(['origin', 'destination', 'place', 'person', 'recipient'])

export function fitText(parameter: Parameter, value: Value): number {
  const { role } = parameter
  if (value.kind === 'number' && role !== 'identifier') return 0
  if (parameter.schema.format === 'email' && value.kind !== 'email') return 0
  const byForm = forms[role]?.[value.kind] ?? 0
  const isUnnamed = nameRoles.has(role) && value.kind === 'phrase' && value.name === undefined
  if (isLabelled(parameter, value)) return Math.max(isUnnamed ? named - 1 : named, byForm)
  if (!asText.has(value.kind)) return byForm
  const byCue = cues[role][value.cue] ?? 0
  if (isUnnamed && value.cue === '' && role !== 'place') return byForm
  return Math.max(byForm, isUnnamed ? byCue - 1 : byCue)
}

/** "subject Hello", "with the title X": the word before the value, or its preposition, is the parameter's own name. */
function isLabelled({ words, role }: Parameter, value: Value): boolean {
  if (role === 'date' || role === 'time' || role === 'url') return false
  return words.some((word) => (value.before !== '' && means(word, value.before)) || (word === value.cue && words.length === 1))
}

export function textFor({ role, schema }: Parameter, value: Value): string {
  if (nameRoles.has(role)) return value.name ?? value.text
  if (schema.format === 'date') return isoDate(value.text) ?? value.text
  if (schema.format === 'time' || role === 'time') return clockTime(value.text) ?? value.text
  return role === 'path' ? value.text.replace(/\s+(?:folder|directory|file)$/i, '') : value.text
}

const ceilings = new Set(['under', 'below', 'until', 'within', 'than'])
const floors = new Set(['over', 'above', 'from', 'least'])

export function fitNumber({ words, described, schema, type }: Parameter, value: Value): number {
  if (value.kind !== 'number' || value.number === undefined) return 0
  if ((type === 'integer' && !Number.isInteger(value.number)) || !fitsNumber(value.number, schema)) return 0
  const { unit, before, cue } = value
  if (words.some((word) => (unit !== undefined && means(word, unit)) || (before !== '' && means(word, before)))) return 9
  if (ceilings.has(cue) && words.includes('max')) return 8
  if (floors.has(cue) && words.includes('min')) return 8
  if (unit !== undefined && described.some((word) => means(word, unit))) return 7
  if (words.includes('max') || words.includes('min')) return 0
  return unit === undefined ? 5 : 4
}

/** Whether the schema allows a text: its length, pattern and format. Long texts are not matched against patterns. */
export function isAllowed({ schema }: Parameter, value: Json): boolean {
  if (typeof value !== 'string') return true
  if (schema.format === 'date' && isoDate(value) !== value) return false
  if (schema.format === 'date-time' && !/^\d{4}-\d{2}-\d{2}T/.test(value)) return false
  return fitsText(value, value.length < 1000 ? schema : { ...schema, pattern: undefined })
}
