import { z } from 'zod'
import type { InputPart } from '../../contracts/index.ts'
import { parseDataUrl } from '../../util/data-url.ts'
import { plainMediaType } from '../../util/media-type.ts'
import { HttpError } from '../http/index.ts'

/** The content of a message: a text, or parts. Their fields are read below, so that an error names the place. */
export const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))])
export type Content = z.infer<typeof contentSchema>
type Part = { readonly type: string; readonly [field: string]: unknown }

/** For a field that is wrong, by its place: `messages.2.content.0.image_url`. */
export const invalid = (place: string, message: string, remedy?: string): HttpError =>
  new HttpError('invalid_request', `${place}: ${message}`, { parameter: place, remedy })

export function inputParts(content: Content, place: string): readonly InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (content.length === 0) throw invalid(place, 'the content is empty')
  return content.map((part, index) => inputPart(part, `${place}.${index}`))
}

/** For messages that have no other parts than text. */
export function textOf(content: Content, place: string): string {
  if (typeof content === 'string') return content
  return content
    .map((part, index) => {
      const [kind, field] = part.type === 'refusal' ? ['refusal', part.refusal] : ['text', part.text]
      if (kind === 'text' && !textTypes.includes(part.type))
        throw invalid(`${place}.${index}`, `a part of type "${part.type}" is not possible here`, 'Send text.')
      return aText(field, `${place}.${index}.${kind}`)
    })
    .join('')
}

const textTypes = ['text', 'input_text', 'output_text']

function inputPart(part: Part, place: string): InputPart {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: aText(part.text, `${place}.text`) }
    case 'image_url':
      return image(fieldsOf(part.image_url, `${place}.image_url`).url, `${place}.image_url.url`)
    case 'input_image':
      if (part.file_id !== undefined && part.file_id !== null) throw noFiles(`${place}.file_id`)
      return image(part.image_url, `${place}.image_url`)
    case 'file':
      return file(fieldsOf(part.file, `${place}.file`), `${place}.file`)
    case 'input_file':
      return file(part, place)
    default:
      throw invalid(`${place}.type`, `parts of type "${part.type}" are not supported`, 'Send text, images and files.')
  }
}

function image(url: unknown, place: string): InputPart {
  const data = aText(url, place)
  if (/^https:/i.test(data)) return { type: 'image', mediaType: 'image/*', data }
  const parsed = /^data:/i.test(data) ? parseDataUrl(data) : undefined
  if (!parsed?.isBase64) throw invalid(place, 'expected an https: address or a data: address with base64')
  return { type: 'image', mediaType: parsed.mediaType === '' ? 'image/*' : plainMediaType(parsed.mediaType), data: parsed.body }
}

function file(given: { readonly [field: string]: unknown }, place: string): InputPart {
  const { file_data, file_url, file_id, filename } = given
  if (file_id !== undefined && file_id !== null) throw noFiles(`${place}.file_id`)
  const name = typeof filename === 'string' && filename !== '' ? filename : undefined
  const named = { ...(name !== undefined && { name }) }
  if (typeof file_url === 'string') {
    if (!/^https:/i.test(file_url)) throw invalid(`${place}.file_url`, 'expected an https: address')
    return { type: 'file', mediaType: typeByName(name ?? new URL(file_url).pathname), data: file_url, ...named }
  }
  const data = aText(file_data, `${place}.file_data`)
  if (!/^data:/i.test(data)) return { type: 'file', mediaType: typeByName(name ?? ''), data, ...named }
  const parsed = parseDataUrl(data)
  if (!parsed?.isBase64) throw invalid(`${place}.file_data`, 'expected base64, or a data: address with base64')
  return { type: 'file', mediaType: plainMediaType(parsed.mediaType), data: parsed.body, ...named }
}

const types: { readonly [extension: string]: string } = {
  pdf: 'application/pdf',
  json: 'application/json',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
}
const typeByName = (name: string): string => types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream'

const noFiles = (place: string): HttpError => invalid(place, 'there are no uploaded files', 'Send the data itself.')

function aText(value: unknown, place: string): string {
  if (typeof value === 'string') return value
  throw invalid(place, 'expected a text')
}

function fieldsOf(value: unknown, place: string): { readonly [field: string]: unknown } {
  if (typeof value === 'object' && value !== null) return value as { readonly [field: string]: unknown }
  throw invalid(place, 'expected an object')
}
