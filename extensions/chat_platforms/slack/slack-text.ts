/** What a person has typed, from Slack's markup: with the addresses of links, and without escapes. Formatting stays. */
export function typedText(markup: string): string {
  const link = (_: string, url: string, label = ''): string => (label === '' || url.endsWith(label) ? url : `${label} (${url})`)
  return markup
    .replace(/<(?:([@#])|!)(?:[^|>]*\||)([^|>]*)>/g, (_, kind = '@', name) => `${kind}${name}`)
    .replace(/<((?:https?|mailto):[^|>]+)(?:\|([^>]*))?>/g, link)
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
