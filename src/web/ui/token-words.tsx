import type { Usage } from '../../contracts/index.ts'
import { tokenWords } from '../../view/index.ts'

/** `22.9k in · 933 out`. It breaks between the two only. */
export const TokenWords = ({ usage }: { readonly usage: Usage }) => (
  <span class="token-words">
    {tokenWords(usage)
      .split(/ (?=·)/)
      .flatMap((part) => [<span key={part}>{part}</span>, ' '])}
  </span>
)
