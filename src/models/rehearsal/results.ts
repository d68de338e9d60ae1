import type { Json, JsonObject } from '../../contracts/index.ts'
import type { Exchange } from './conversation.ts'
import { jsonOf } from './facts.ts'
import { clip } from './words.ts'

/** Says of every answer where it comes from. */
export const label = '(rehearsal: rules, no LLM)'

/** A result without the label of a rehearsal that it may itself come from. */
export function resultText({ content }: Exchange): string {
  return content.replace(/\s*\(rehearsal: rules, no LLM\)\s*$/, '').trim()
}

const failurePattern = /^Error \((\w+)\): /

/** A failure in the words of its tool, without the form that the loop gives it. */
export function failureWords(exchange: Exchange): string {
  const content = resultText(exchange)
  if (content === '') return 'it was cut off.'
  return content.replace(failurePattern, '')
}

interface Room {
  readonly characters: number
  readonly lines: number
}

/** A result as a person reads it: JSON as a few lines, long texts cut with a note. */
export function renderResult(exchange: Exchange, room: Room): string {
  return cut(readable(resultText(exchange)), room)
}

/** JSON as lines; any other text as it is. */
export function readable(text: string): string {
  const json = jsonOf(text)
  return json === undefined ? text : renderJson(json)
}

function cut(text: string, { characters, lines }: Room): string {
  const kept = text.slice(0, characters).split('\n').slice(0, lines).join('\n').trimEnd()
  const left = text.length - kept.length
  return left <= 20 ? text : `${kept}\n… (${grouped(left)} more characters)`
}

const grouped = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')

const mostItems = 6

function renderJson(json: Json): string {
  if (Array.isArray(json)) return renderList(json as readonly Json[])
  if (typeof json !== 'object' || json === null) return String(json)
  const entries = Object.entries(json as JsonObject)
  return entries.length === 0 ? 'nothing' : entries.map(([name, value]) => renderEntry(name, value ?? null)).join('\n')
}

function renderEntry(name: string, value: Json): string {
  if (!Array.isArray(value) || value.length === 0 || value.every(isPlain)) return `- ${name}: ${inline(value)}`
  return `- ${name}:\n${renderList(value as readonly Json[]).replaceAll(/^/gm, '  ')}`
}

function renderList(list: readonly Json[]): string {
  if (list.length === 0) return 'nothing'
  const shown = list.slice(0, mostItems).map((item) => `- ${inline(item)}`)
  return [...shown, ...(list.length > mostItems ? [`- … and ${list.length - mostItems} more`] : [])].join('\n')
}

const isPlain = (value: Json): boolean => typeof value !== 'object' || value === null

function inline(value: Json): string {
  if (Array.isArray(value))
    return value.length === 0
      ? 'none'
      : clip(
          value
            .slice(0, 20)
            .map((each: Json) => inline(each))
            .join(', '),
          200,
        )
  if (typeof value === 'object' && value !== null)
    return clip(
      Object.entries(value as JsonObject)
        .slice(0, 20)
        .map(([name, inner]) => `${name}: ${inline(inner ?? null)}`)
        .join(', '),
      200,
    )
  return typeof value === 'string' ? clip(value, 200) : value === null ? 'none' : String(value)
}
