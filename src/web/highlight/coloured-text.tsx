import { useMemo } from 'preact/hooks'
import { exactText } from '../../util/exact-text.ts'
import { tokensOf } from './tokens.ts'

/** A text with the colours of its language. Shows invisible characters by their code. */
export function ColouredText({ text, language }: { readonly text: string; readonly language: string }) {
  const tokens = useMemo(() => tokensOf(text, language) ?? [{ text }], [text, language])
  return (
    <>
      {tokens.map(({ kind, text: piece }, index) =>
        kind === undefined ? (
          exactText(piece)
        ) : (
          <span key={index} class={`code-${kind}`}>
            {exactText(piece)}
          </span>
        ),
      )}
    </>
  )
}
