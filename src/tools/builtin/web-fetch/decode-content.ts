export interface ContentType {
  /** Without parameters, in lower case; empty if the header is missing. */
  readonly type: string
  readonly charset?: string
}

export function readContentType(header: string | undefined): ContentType {
  const [type = '', ...parameters] = (header ?? '').slice(0, 500).split(';')
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]+)"?\s*$/i.exec(parameter)?.[1])
    .find((found) => found !== undefined)
  return { type: type.trim().toLowerCase(), ...(charset !== undefined && { charset }) }
}

const texts =
  /^(?:text\/.*|application\/(?:json|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|x-sh|x-ndjson|jsonl|x-www-form-urlencoded)|.+\+(?:json|xml|yaml))$/

export function kindOf({ type }: ContentType): 'html' | 'text' | 'binary' | 'unknown' {
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (texts.test(type)) return 'text'
  return type === '' || type === 'application/octet-stream' ? 'unknown' : 'binary'
}

/** Decodes by byte order mark, header, declaration in the page, or as UTF-8. */
export function decodeContent(
  bytes: Uint8Array,
  contentType: ContentType,
): { readonly kind: 'html' | 'text' | 'binary'; readonly text: string } {
  const stated = kindOf(contentType)
  const beginning = new TextDecoder('latin1').decode(bytes.subarray(0, 1_024))
  const isHtml = stated === 'html' || (stated === 'unknown' && /^\s*(?:<!doctype html|<html|<head|<body)/i.test(beginning))
  const text = decoder(markOf(bytes) ?? contentType.charset ?? (isHtml || stated === 'text' ? charsetIn(beginning) : undefined)).decode(
    bytes,
  )
  // Text has no NUL. A replacement character at the end may come from cutting a letter.
  const isBinary = text.includes('\0') || (stated === 'unknown' && text.slice(0, 10_000).includes('\uFFFD'))
  if (isBinary) return { kind: 'binary', text: '' }
  return { kind: isHtml ? 'html' : 'text', text }
}

function markOf(bytes: Uint8Array): string | undefined {
  const [a, b, c] = bytes
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  return a === 0xff && b === 0xfe ? 'utf-16le' : undefined
}

function charsetIn(beginning: string): string | undefined {
  const found =
    /<meta[^>]{0,500}?charset\s{0,10}=\s{0,10}["']?([\w.:-]{1,40})/i.exec(beginning)?.[1] ??
    /^<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})/.exec(beginning)?.[1]
  // A declaration that is readable in single bytes cannot be UTF-16.
  return found && /^utf-?16/i.test(found) ? 'utf-8' : found
}

function decoder(label = 'utf-8'): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder()
  }
}
