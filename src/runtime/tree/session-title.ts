import type { InputPart } from '../../contracts/index.ts'

const maxTitleChars = 80

/** The title of a new session: the first line of its first message. Coding agents put reminders in tags before what the person wrote. */
export function sessionTitle(input: readonly InputPart[]): string {
  const texts = input.flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []))
  const text = texts.find((each) => !isTagged(each)) ?? texts[0]
  return text?.split('\n', 1)[0]?.slice(0, maxTitleChars) ?? ''
}

const isTagged = (text: string): boolean => /^<([\w-]+)>.*<\/\1>$/s.test(text)
