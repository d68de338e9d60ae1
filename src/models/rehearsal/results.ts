import type { Json, JsonObject } from '../../contracts/index.ts'
import type { Exchange } from './conversation.ts'
import type { Parameter } from './parameters.ts'
import { isOfType } from './schema-view.ts'
import { clip, nameWords, readWords } from './words.ts'

// The results of calls. They fill arguments and answers; they never choose a tool.

/** Marks every answer as made by rules. */
export const label = '(rehearsal: rules, no LLM)'

/** A result without the label of a rehearsal that it may come from. */
export function resultText({ content }: Exchange): string {
  return content.replace(/\s*\(rehearsal: rules, no LLM\)\s*$/, '').trim()
}

/** The message of a failure, without the prefix that the loop adds. */
export function failureText(exchange: Exchange): string {
  return resultText(exchange).replace(/^Error \((\w+)\): /, '') || 'it was cut off.'
}

/** A result for a person: JSON as a few lines, long texts cut with a note. */
export function renderResult(exchange: Exchange, max: { readonly characters: number; readonly lines: number }): string {
  const text = readable(resultText(exchange))
  const kept = text.slice(0, max.characters).split('\n').slice(0, max.lines).join('\n').trimEnd()
  const left = text.length - kept.length
  return left <= 20 ? text : `${kept}\n… (${String(left).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')} more characters)`
}

/** JSON as lines; any other text unchanged. */
export function readable(text: string): string {
  const json = jsonOf(text)
  return json === undefined ? text : renderJson(json)
}

const maxShown = 6

function renderJson(json: Json): string {
  if (Array.isArray(json)) return renderList(json as readonly Json[])
  if (typeof json !== 'object' || json === null) return String(json)
  const entries = Object.entries(json as JsonObject)
  return entries.length === 0 ? 'nothing' : entries.map(([name, value]) => renderEntry(name, value ?? null)).join('\n')
}

function renderEntry(name: string, value: Json): string {
  if (!Array.isArray(value) || value.every((each) => typeof each !== 'object' || each === null)) return `- ${name}: ${inline(value)}`
  return `- ${name}:\n${renderList(value as readonly Json[]).replaceAll(/^/gm, '  ')}`
}

function renderList(list: readonly Json[]): string {
  if (list.length === 0) return 'nothing'
  const shown = list.slice(0, maxShown).map((item) => `- ${inline(item)}`)
  return [...shown, ...(list.length > maxShown ? [`- … and ${list.length - maxShown} more`] : [])].join('\n')
}

function inline(value: Json): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  if (typeof value !== 'object') return clip(String(value), 200)
  const parts = Object.entries(value as JsonObject).slice(0, 20)
  return clip(parts.map(([name, part]) => `${Array.isArray(value) ? '' : `${name}: `}${inline(part ?? null)}`).join(', '), 200)
}

/** The JSON that a result is, if it is JSON. */
export function jsonOf(result: string): Json | undefined {
  if (!/^\s*[[{]/.test(result)) return undefined
  try {
    return JSON.parse(result) as Json
  } catch {
    return undefined
  }
}

const maxNodes = 5_000

/** Every named value in the JSON, the outermost first. Names are compared without case and separators. */
export function namedValues(json: Json): readonly (readonly [name: string, value: Json])[] {
  const found: [string, Json][] = []
  const queue: Json[] = [json]
  for (let at = 0; at < queue.length && at < maxNodes; at++) {
    const value = queue[at]
    if (Array.isArray(value)) queue.push(...(value as readonly Json[]).slice(0, 100))
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner = null] of Object.entries(value as JsonObject)) {
        found.push([plainName(name), inner])
        queue.push(inner)
      }
    }
  }
  return found
}

export const plainName = (name: string): string => nameWords(name).join('')

/** The value in a result that has the parameter's name, or the form that it needs: an address, a path. */
export function valueInResult(result: string, { name: wanted, type, role }: Parameter): Json | undefined {
  const named = namedValues(jsonOf(result) ?? null).find(([name, value]) => name === plainName(wanted) && isOfType(value, type))
  if (named) return named[1]
  const kind = role === 'recipient' || role === 'person' ? 'email' : role === 'path' || role === 'url' ? role : undefined
  return kind === undefined || type !== 'string' ? undefined : readWords(result).find((word) => word.kind === kind)?.text
}
