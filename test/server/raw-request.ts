import { request as httpRequest } from 'node:http'

/** `fetch` does not send another Host or Origin. */
export function request(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { readonly method?: string; readonly headers?: { readonly [name: string]: string }; readonly body?: string } = {},
): Promise<{
  readonly status: number
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined }
  readonly body: string
}> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
