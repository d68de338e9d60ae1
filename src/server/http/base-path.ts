/** The request with the path that routes know. */
export function withoutBase(request: Request, basePath: string): Request {
  if (basePath === '') return request
  const url = new URL(request.url)
  if (!url.pathname.startsWith(`${basePath}/`)) return request
  url.pathname = url.pathname.slice(basePath.length)
  return new Request(url, request)
}

/** From the path of the page without its last slash, relative links would lead elsewhere. */
export const isWithoutSlash = ({ pathname }: URL, basePath: string): boolean => basePath !== '' && pathname === basePath

/** A relative address: a proxy may have another scheme and host. */
export function withSlash({ pathname, search }: URL): Response {
  return new Response(null, { status: 308, headers: { location: `${pathname.split('/').at(-1)}/${search}` } })
}
