const mostNamed = 20

/** The first names of a list, and how many are left: a hostile file could have thousands. */
export function someOf(names: readonly string[], separator: string): { readonly text: string; readonly left: number } {
  const left = Math.max(0, names.length - mostNamed)
  return { text: [...names.slice(0, mostNamed), ...(left > 0 ? [`${left} more`] : [])].join(separator), left }
}
