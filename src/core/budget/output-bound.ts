/** What a text takes where nobody has counted it; also the least that a bound is measured with, so that it is not met too early. */
const defaultCharsPerToken = 4
const slackShare = 1.25
const slackTokens = 200

/**
 * How many characters a reply may bring before its model is taken for one that does not heed the bound that it was given.
 * Tokens are estimated, so it is given some slack. Without a bound there is no end to it.
 */
export function maxReplyCharacters(maxOutputTokens: number | undefined, charsPerToken: number): number {
  if (maxOutputTokens === undefined) return Number.POSITIVE_INFINITY
  return (maxOutputTokens * slackShare + slackTokens) * Math.max(charsPerToken, defaultCharsPerToken)
}

/** Of such a model, as the rest of a sentence. */
export const exceededText = (maxOutputTokens: number): string => `went on beyond the ${maxOutputTokens} tokens that it was given`
