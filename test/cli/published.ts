import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

const schemaOf = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'schemas', file), 'utf8'))
const ajv = new Ajv2020({ strict: false })
const isDocument = ajv.compile(schemaOf('run-document.schema.json'))
const isLine = ajv.compile(schemaOf('stream-event.schema.json'))

/** The `error` of every document of a command that failed. */
export function expectError(error: unknown): void {
  const isError = ajv.getSchema('urn:troupe:schema:run-document#/$defs/CommandError')
  expect(isError?.(error) || [error, isError?.errors]).toBe(true)
}

export interface Line {
  readonly type: string
  readonly seq?: number
  readonly exitCode?: number
  readonly error?: { readonly code: string; readonly problems: readonly { readonly place: string }[] }
  readonly outcome?: { readonly status: string; readonly reason?: string }
}

/** What `--json` has printed: one document in one line, as published. */
export function documentIn(stdout: string): { readonly ok: boolean; readonly exitCode: number } {
  expect(stdout).toMatch(/^[^\n]+\n$/)
  const document = JSON.parse(stdout)
  expect(isDocument(document) || [stdout, isDocument.errors]).toBe(true)
  expect([document.ok, document.error === undefined]).toEqual([document.exitCode === 0, document.exitCode === 0])
  return document
}

/** What `--stream-json` has printed: lines as published, durable ones without a gap, the end at the end. */
export function linesIn(stdout: string): readonly Line[] {
  const lines: Line[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const line of lines) expect(isLine(line) || [line, isLine.errors]).toBe(true)
  const seqs = lines.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  expect(lines.filter(({ type }) => type.startsWith('run.'))).toEqual([lines.at(-1)])
  return lines
}
