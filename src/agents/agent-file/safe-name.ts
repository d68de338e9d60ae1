/** `Code review` → `Code-review`: a name that tools, files and events can carry. Empty where nothing is left. */
export function safeName(written: string): string {
  return written
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

/** `agents/review.agent.md` → `review`: what a file is called without what says that it is an agent. */
export function fileStem(place: string): string {
  const base = place.split(/[/\\]/).at(-1) ?? ''
  return base.replace(/(?:\.ai|(?:\.(?:agent|chatmode))?\.(?:md|toml))$/i, '')
}
