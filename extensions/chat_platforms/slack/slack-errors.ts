/** Errors of `@slack/web-api` are told apart by their code. */
interface WebApiError {
  readonly code?: string
  readonly retryAfter?: number
  readonly data?: { readonly error?: string }
}

export const tokenErrors: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'not_allowed_token_type',
  'missing_scope',
  'app_uninstalled',
])

/** What Slack has answered, such as `channel_not_found`. Undefined for other failures. */
export const slackErrorOf = (error: unknown): string | undefined => (error as WebApiError | undefined)?.data?.error

export function retryAfterMs(error: unknown): number | undefined {
  const { code, retryAfter } = (error ?? {}) as WebApiError
  if (code === 'slack_webapi_rate_limited_error') return (retryAfter ?? 1) * 1_000
  // Of Chat SDK: the time is not known.
  return code === 'RATE_LIMITED' || slackErrorOf(error) === 'ratelimited' ? 5_000 : undefined
}
