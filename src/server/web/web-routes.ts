import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { errorCode } from '../../util/error-code.ts'
import { HttpError, plainErrors, type Route, type RouteRequest, route } from '../http/index.ts'

// The files of the web chat. They contain no data and need no token: the page sends one with its requests.

/** Nothing is loaded from elsewhere, nothing inline runs, and no text becomes HTML unless it was sanitised. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ')

const mediaTypes: { readonly [ending: string]: string } = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

interface WebFile {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer> | undefined
  readonly mediaType: string
  /** The same for both forms. */
  readonly etag: string
}

/** `folder`: what `npm run build` makes of `src/web`. Empty if it does not exist. */
export function webRoutes(folder: string): readonly Route[] {
  const index = readFile(join(folder, 'index.html'))
  if (!index) return []
  const names = readdirSync(join(folder, 'assets')).filter((name) => !name.endsWith('.gz'))
  const assets = new Map(names.map((name) => [name, readFile(join(folder, 'assets', name))] as const))
  const base = { headend: 'web', errors: plainErrors, method: 'GET', access: 'public' } as const
  return [
    route({
      ...base,
      path: '/',
      summary: 'The web chat',
      responses: { 200: { description: 'A page.', content: { 'text/html': z.string() } } },
      handle: (request) =>
        respond(request, index, {
          'content-security-policy': policy,
          'cross-origin-opener-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'cache-control': 'no-cache',
        }),
    }),
    route({
      ...base,
      path: '/assets/:file',
      isUnlisted: true,
      summary: 'A file of the web chat',
      responses: { 200: { description: 'A script, a style sheet or a picture.' } },
      handle(request) {
        const file = assets.get(request.params.file ?? '')
        if (!file) throw new HttpError('not_found', `There is no file ${request.params.file}.`, { remedy: 'Reload the page.' })
        // Their names contain a hash of their content.
        return respond(request, file, { 'cache-control': 'public, max-age=31536000, immutable' })
      },
    }),
  ]
}

function respond(
  { raw }: Pick<RouteRequest, 'raw'>,
  { bytes, gzip, mediaType, etag }: WebFile,
  given: { readonly [name: string]: string },
): Response {
  const headers = { ...given, etag, vary: 'accept-encoding' }
  if (raw.headers.get('if-none-match')?.includes(etag)) return new Response(null, { status: 304, headers })
  const isCompressed = gzip !== undefined && /\bgzip\b(?!;q=0(?:\D|$))/.test(raw.headers.get('accept-encoding') ?? '')
  return new Response(isCompressed ? gzip : bytes, {
    headers: { ...headers, 'content-type': mediaType, ...(isCompressed && { 'content-encoding': 'gzip' }) },
  })
}

function readFile(path: string): WebFile | undefined {
  const bytes = readBytes(path)
  const mediaType = mediaTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
  if (!bytes) return undefined
  const etag = `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { bytes, gzip: readBytes(`${path}.gz`), mediaType, etag }
}

function readBytes(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return new Uint8Array(readFileSync(path))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}
