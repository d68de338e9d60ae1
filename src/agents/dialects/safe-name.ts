/** `agents/Code review.agent.md` → `Code-review`: a name that tools, files and events can carry. Empty where nothing is left. */
export function safeName(written: string): string {
  return written
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

export function fileStem(place: string): string {
  const base = place.split(/[/\\]/).at(-1) ?? ''
  return base.replace(/(?:\.(?:agent|chatmode))?\.(?:md|toml)$/i, '')
}
