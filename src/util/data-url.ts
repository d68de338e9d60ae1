interface DataUrl {
  /** Empty if the URL has none. */
  readonly mediaType: string
  readonly isBase64: boolean
  readonly body: string
}

/** Splits a `data:` URL; `undefined` if it has no data. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const comma = url.indexOf(',')
  if (comma < 0) return undefined
  const [type = '', ...attributes] = url.slice('data:'.length, comma).split(';')
  const isBase64 = attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64')
  return { mediaType: type.includes('/') ? type : '', isBase64, body: url.slice(comma + 1) }
}
