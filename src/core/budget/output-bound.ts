/** Also the minimum for this check, so that it does not stop a reply too early. */
const defaultCharsPerToken = 4
const slackShare = 1.25
const slackTokens = 200

/** A reply with more characters ignores its output limit. Tokens are estimated, so there is some slack. */
export function maxReplyCharacters(maxOutputTokens: number | undefined, charsPerToken: number): number {
  if (maxOutputTokens === undefined) return Number.POSITIVE_INFINITY
  return (maxOutputTokens * slackShare + slackTokens) * Math.max(charsPerToken, defaultCharsPerToken)
}

/** `The model ` precedes it. */
export const exceededText = (maxOutputTokens: number): string => `exceeded its output limit of ${maxOutputTokens} tokens`
