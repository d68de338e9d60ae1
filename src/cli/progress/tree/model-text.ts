import { printable } from '../../terminal/printable.ts'
import { widthOf } from '../../terminal/text-width.ts'

/** The name of a script contains a path; a long one keeps its end. */
export function modelText(model: string): string {
  const name = printable(model)
  const [provider = '', ...path] = name.split('/')
  if (provider !== 'script' || widthOf(name) <= maxNameWidth) return name
  const ends = [path.slice(-2), path.slice(-1)].map((end) => `${provider}/…/${end.join('/')}`)
  return ends.find((end) => widthOf(end) <= maxNameWidth) ?? ends.at(-1) ?? name
}

const maxNameWidth = 36
