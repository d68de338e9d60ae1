import { useEffect, useMemo } from 'preact/hooks'
import { exactText } from '../../util/exact-text.ts'
import { highlighter, loadHighlighter } from './load-highlighter.ts'

/** A text with the colours of its language. Shows invisible characters by their code. */
export function ColouredText({ text, language }: { readonly text: string; readonly language: string }) {
  useEffect(loadHighlighter, [])
  const { value: tokensOf } = highlighter
  const tokens = useMemo(() => tokensOf?.(text, language) ?? [{ text }], [text, language, tokensOf])
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
