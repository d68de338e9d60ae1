import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider'
import type { FilePart, ImagePart, InputPart } from '../../contracts/index.ts'
import { FailureError, failing } from '../failures/index.ts'
import type { Dialect } from './dialect.ts'

export type SupportedUrls = { readonly [mediaType: string]: readonly RegExp[] }

/** What a model takes in, and how. */
export interface InputRules {
  readonly dialect: Dialect
  /** Addresses that the provider itself reads; we never fetch any. */
  readonly supportedUrls: SupportedUrls
}

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** A part of a user's message. Throws where the provider could not read it. */
export function toUserPart(part: InputPart, rules: InputRules): UserPart {
  if (part.type === 'text') return { type: 'text', text: part.text }
  const content = readData(part)
  if (part.type === 'file' && content.kind === 'bytes' && isTextType(content.mediaType)) {
    return { type: 'text', text: asText(part, content) }
  }
  return {
    type: 'file',
    mediaType: content.mediaType,
    data: content.kind === 'bytes' ? { type: 'data', data: content.base64 } : { type: 'url', url: readable(content, rules) },
    ...(part.type === 'file' && part.name !== undefined && { filename: part.name }),
  }
}

type Content =
  | { readonly kind: 'bytes'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly mediaType: string; readonly url: URL }

function readData({ mediaType, data }: ImagePart | FilePart): Content {
  if (/^data:/i.test(data)) return readDataUrl(data, mediaType)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(data)) return { kind: 'bytes', mediaType, base64: data }
  const url = URL.parse(data)
  if (url?.protocol === 'https:') return { kind: 'url', mediaType, url }
  throw unreadable(`The address ${brief(data)} cannot be read by a model.`, 'Give an https: address, a data: address or base64.')
}

function readDataUrl(data: string, mediaType: string): Content {
  const comma = data.indexOf(',')
  if (comma < 0) throw unreadable(`The address ${brief(data)} has no data.`, 'A data: address is data:<media type>;base64,<data>.')
  const [type, ...attributes] = data.slice('data:'.length, comma).split(';')
  const isBase64 = attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64')
  const body = data.slice(comma + 1)
  const base64 = isBase64 ? body : Buffer.from(decoded(body), 'utf8').toString('base64')
  // What the address says about itself goes before what was said about it.
  return { kind: 'bytes', mediaType: type?.includes('/') ? type : mediaType, base64 }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw unreadable(`The address data:${brief(text)} is not encoded well.`, 'Give base64 instead.')
  }
}

function readable({ url, mediaType }: Extract<Content, { kind: 'url' }>, { dialect, supportedUrls }: InputRules): URL {
  // Servers that speak OpenAI's format take any address or refuse it themselves: nothing tells beforehand.
  if (dialect === 'openai-compatible' || isSupported(url, mediaType, supportedUrls)) return url
  throw unreadable(`The provider does not read ${mediaType} from ${url.origin}.`, 'Give the data itself, as base64 or as a data: address.')
}

function isSupported(url: URL, mediaType: string, supported: SupportedUrls): boolean {
  return Object.entries(supported).some(
    ([type, patterns]) => covers(type.toLowerCase(), mediaType.toLowerCase()) && patterns.some((pattern) => pattern.test(url.href)),
  )
}

const covers = (pattern: string, mediaType: string): boolean =>
  pattern === '*' || pattern === '*/*' || pattern === mediaType || (pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)))

// Providers differ in which text files they take, and none does more with them than read them.
const isTextType = (mediaType: string): boolean =>
  /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|ya?ml|toml|javascript|x-ya?ml|x-sh)\b/i.test(mediaType)

/** It is said in words, also to a model that takes no files. */
export const isSaidInWords = (part: InputPart): boolean =>
  part.type === 'text' || (part.type === 'file' && isTextType(part.mediaType) && !/^https:/i.test(part.data))

function asText({ name }: FilePart, { mediaType, base64 }: Extract<Content, { kind: 'bytes' }>): string {
  return `File ${name === undefined ? '' : `${JSON.stringify(name)} `}(${mediaType}):\n\n${Buffer.from(base64, 'base64').toString('utf8')}`
}

const brief = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

const unreadable = (message: string, remedy: string): FailureError => new FailureError(failing('config', message, remedy))
