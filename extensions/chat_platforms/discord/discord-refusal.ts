/** Discord has answered that it did nothing. */
export class DiscordRefusal extends Error {
  readonly status: number
  readonly code: number | undefined
  readonly retryAfterMs: number | undefined

  constructor(call: string, status: number, body: string) {
    super(`Discord has refused ${call} (${status}): ${body.slice(0, 300)}`)
    const { code, retry_after = 1 } = body.startsWith('{') ? JSON.parse(body) : {}
    this.status = status
    this.code = code
    this.retryAfterMs = status === 429 ? retry_after * 1_000 : undefined
  }
}
