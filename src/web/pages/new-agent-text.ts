// The text of a new agent file with the settings of another agent.

interface Origin {
  /** Its frontmatter. */
  readonly template: string
  /** Absent: it is not known to the reader. */
  readonly prompt: string | undefined
}

/** The name of a file is the name of its agent. */
export function newAgentText({ template, prompt = 'You are …' }: Origin): string {
  // Two agents cannot have one name for their callers.
  const settings = template.replace(/^toolName: .*\n/m, '')
  return `${settings}\n${literal(prompt.trim())}\n`
}

/** Prompts are templates: braces of this one are meant as they are. */
const literal = (prompt: string): string => (/\{[{%#]/.test(prompt) ? `{% raw %}${prompt}{% endraw %}` : prompt)

/** Other characters would not survive as the name of a file and of a tool. */
export const isAgentName = (name: string): boolean => /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,40}$/.test(name)

/** A name that no agent has. */
export function freeName(name: string, taken: readonly string[]): string {
  const base = `${name.replaceAll(/[^a-zA-Z0-9_-]+/g, '-')}-copy`.slice(0, 38)
  for (let number = 1; ; number++) {
    const free = number === 1 ? base : `${base}-${number}`
    if (!taken.includes(free)) return free
  }
}
