import type { ToolSpec } from '../../contracts/index.ts'
import { type Field, fieldsOf } from './fields.ts'
import { type Role, reasonField } from './parameters.ts'
import { nameWords } from './words.ts'

const samples: { readonly [R in Role]: string } = {
  origin: 'from Oslo',
  destination: 'to Bergen',
  place: 'in Oslo',
  recipient: 'to anna@example.com',
  date: 'on 2026-05-01',
  time: 'at 14:00',
  path: 'README.md',
  url: 'https://example.com',
  topic: 'about "the plan"',
  title: 'called "Lunch"',
  content: 'saying "See you soon"',
  command: '`ls`',
  query: 'for "invoices"',
  prompt: 'to compare tea and coffee',
  person: 'with Anna',
  unit: '',
  language: 'into French',
  identifier: '"A1"',
  other: '"something"',
}

/** A request that the rules would understand as one for this tool. */
export function exampleRequest(tool: ToolSpec): string {
  const fields = fieldsOf(tool.inputSchema, reasonField(tool)).filter(({ required }) => required)
  const isAgent = tool.name.startsWith('agent__')
  const name = nameWords(isAgent ? tool.name.slice('agent__'.length) : tool.name).join(' ')
  const opening = isAgent ? `ask the ${name}` : name
  const [first = '', ...others] = fields.map(samplePhrase).filter((part) => part !== '')
  return [`${opening} ${first}`.trim(), ...others].join(others.some((part) => /^\d/.test(part)) ? ', ' : ' ')
}

function samplePhrase({ parameter, items }: Field): string {
  const { schema, type, role, name } = items ?? parameter
  const spoken = nameWords(name).join(' ')
  if (schema.const !== undefined || schema.default !== undefined) return ''
  if (Array.isArray(schema.enum)) return `${spoken} ${String(schema.enum[0])}`
  if (type === 'integer' || type === 'number') {
    const number = sampleNumber(schema.minimum, schema.maximum)
    return spoken.endsWith('s') ? `${number} ${spoken}` : `${spoken} ${number}`
  }
  if (type !== 'string' && type !== 'any') return ''
  return role === 'other' || role === 'identifier' || role === 'unit' ? `${spoken} ${samples[role] || 'km'}` : samples[role]
}

function sampleNumber(minimum: unknown, maximum: unknown): number {
  const least = typeof minimum === 'number' ? minimum : 2
  return typeof maximum === 'number' ? Math.min(Math.max(2, least), maximum) : Math.max(2, least)
}
