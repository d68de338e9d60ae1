/** `Code review` → `Code-review`. Empty if no character is left. */
export function safeName(written: string): string {
  return written
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-zA-Z0-9_-]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
}

/** `agents/review.agent.md` → `review`. */
export function fileStem(place: string): string {
  const base = place.split(/[/\\]/).at(-1) ?? ''
  return base.replace(/(?:\.ai|(?:\.(?:agent|chatmode))?\.(?:md|toml))$/i, '')
}
