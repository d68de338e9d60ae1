import { useEffect, useState } from 'preact/hooks'
import type { AgentSetup } from '../../contracts/index.ts'
import { ApiError } from '../api/http.ts'
import { sentenceOf } from './actions.ts'
import { type Page, usePage } from './page.ts'

export type SetupState =
  | { readonly kind: 'loading' }
  /** The token may not read prompts. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'ready'; readonly setup: AgentSetup }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined }

/** The prompt and the tools of an agent. They are read again when agents have changed. */
export function useAgentSetup(name: string): SetupState {
  const page = usePage()
  const [state, setState] = useState<SetupState>({ kind: 'loading' })
  const { value: isAdmin } = page.isAdmin
  useEffect(() => {
    if (!isAdmin) return
    let isCurrent = true
    void read(page, name).then((next) => {
      if (isCurrent) setState(next)
    })
    return () => {
      isCurrent = false
    }
  }, [name, isAdmin, page.agents.value])
  return isAdmin || !page.status.value ? state : { kind: 'hidden' }
}

async function read({ http }: Page, name: string): Promise<SetupState> {
  try {
    return { kind: 'ready', setup: await http.get<AgentSetup>(`/v1/agents/${encodeURIComponent(name)}/setup`) }
  } catch (error) {
    return { kind: 'failed', message: sentenceOf(error), remedy: error instanceof ApiError ? error.remedy : undefined }
  }
}
