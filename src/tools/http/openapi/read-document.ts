import { parse } from 'yaml'
import type { Problem } from '../../../contracts/index.ts'
import { isRecord } from '../../../util/is-record.ts'
import { resolvePointer } from '../../../util/json-schema/schema-references.ts'
import { messageOf } from '../../../util/message-of.ts'

export interface OpenApiDocument {
  readonly [key: string]: unknown
}

type ReadDocument = { readonly ok: true; readonly document: OpenApiDocument } | { readonly ok: false; readonly problem: Problem }

export const maxDocumentBytes = 20_000_000
/** YAML takes about twenty times as long as JSON. */
const maxYamlCharacters = 3_000_000

/** Reads OpenAPI 3.0 or 3.1, in JSON or YAML. Never throws. */
export function readDocument(text: string, place: string): ReadDocument {
  const refused = (message: string, remedy: string): ReadDocument => ({ ok: false, problem: { place, message, remedy } })
  let value: unknown
  try {
    const isJson = text.trimStart().startsWith('{')
    if (!isJson && text.length > maxYamlCharacters)
      return refused(`the YAML document has more than ${maxYamlCharacters} characters`, 'Use the JSON form of the document.')
    // Aliases in a hostile document grow exponentially.
    value = isJson ? JSON.parse(text) : parse(text, { maxAliasCount: 100, merge: false, logLevel: 'error' })
  } catch (error) {
    return refused(`the document cannot be read: ${messageOf(error).split('\n', 1)[0]}`, 'It must be JSON or YAML.')
  }
  if (!isRecord(value)) return refused('the document is not an object', 'Use an OpenAPI document.')
  const version = value.openapi ?? value.swagger
  if (typeof value.openapi !== 'string' || !/^3\.[01](?:\.|$)/.test(value.openapi))
    return refused(
      `it has ${version === undefined ? 'no version' : `the version ${String(version).slice(0, 20)}`}`,
      'Use an OpenAPI document of version 3.0 or 3.1; converters for older ones exist.',
    )
  return isRecord(value.paths) ? { ok: true, document: value } : refused('it has no `paths`', 'Use a document with operations.')
}

/** An object of the document that may be a reference. Follows local references. @throws Error with the reason. */
export function follow(document: OpenApiDocument, value: unknown): { readonly [key: string]: unknown } {
  let at = value
  for (let hops = 0; isRecord(at) && typeof at.$ref === 'string'; hops++) {
    if (hops === 20) throw new Error(`the reference ${at.$ref} leads in a circle`)
    at = valueAt(document, at.$ref)
  }
  if (!isRecord(at)) throw new Error(`expected an object, found ${at === null ? 'null' : typeof at}`)
  return at
}

/** What a reference such as `#/components/schemas/Pet` points to. */
export function valueAt(document: OpenApiDocument, reference: string): unknown {
  if (!reference.startsWith('#/')) throw new Error(`the reference ${reference.slice(0, 200)} leads to another document`)
  const at = resolvePointer(document, reference.slice(1))
  if (at === undefined) throw new Error(`the reference ${reference.slice(0, 200)} leads nowhere`)
  return at
}
