import { elapsed, isRunning, price, shownTurnStatus, spentByTurns, tokenWords, turnTimes, workTime } from '../../view/index.ts'
import type { SessionDocument } from '../api/documents.ts'
import { useNeeded } from '../conversation/use-needed.ts'
import { copyAsCurl, copyText, exportSession } from '../export/session-files.ts'
import { isReleased } from '../state/continuation.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { MenuButton, type MenuItem } from '../ui/menu.tsx'
import { PaneHead } from '../ui/pane-head.tsx'
import { StatusMark, statusLabel } from '../ui/status-mark.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { useSessionDialogs } from './session-dialogs.tsx'

/** Title, agent, model and state of a session, and what can be done with it. */
export function SessionHead({ store }: { readonly store: SessionStore }) {
  const page = usePage()
  const entry = page.sessions.value.find(({ sessionId }) => sessionId === store.id)
  const { isTimelineOpen } = page.settings.value
  return (
    <PaneHead title={entry?.title || entry?.agent || 'Session'} detail={<SessionFacts store={store} />}>
      <Tabs
        label="View"
        class="tabs"
        tabs={{ conversation: 'Chat', timeline: 'Timeline' }}
        selected={page.tab.value}
        onSelect={(tab) => (page.tab.value = tab)}
      />
      {entry && <SessionMenus store={store} session={entry} />}
      <IconButton
        icon="timeline"
        label={isTimelineOpen ? 'Hide timeline' : 'Show timeline'}
        class="only-beside"
        isPressed={isTimelineOpen}
        onClick={() => page.set({ isTimelineOpen: !isTimelineOpen })}
      />
    </PaneHead>
  )
}

function SessionMenus({ store, session }: { readonly store: SessionStore; readonly session: SessionDocument }) {
  const page = usePage()
  const { items, dialog } = useSessionDialogs(session)
  const exports: readonly MenuItem[] = [
    { label: 'Export as JSON', icon: 'download', onSelect: () => void exportSession(page, store.id, 'json') },
    { label: 'Export as HTML', icon: 'download', onSelect: () => void exportSession(page, store.id, 'html') },
  ]
  return (
    <>
      <MenuButton label="Export" class="icon-button only-wide" items={exports}>
        <Icon name="download" />
      </MenuButton>
      <MenuButton
        label="Session actions"
        class="icon-button"
        items={[
          ...(matchMedia('(max-width: 599px)').matches ? exports : []),
          { label: 'Copy as curl', icon: 'command', onSelect: () => void copyAsCurl(page, store) },
          { label: 'Copy session id', icon: 'copy', onSelect: () => void copyText(page, store.id, 'Copied the session id') },
          ...(page.mayRun.value && session.project !== 'elsewhere' ? items : []),
        ]}
      >
        <Icon name="more" />
      </MenuButton>
      {dialog}
    </>
  )
}

/** Who answers, in which state, and what it has used. */
function SessionFacts({ store }: { readonly store: SessionStore }) {
  const page = usePage()
  // Figures grow twice a second, not with each event.
  void page.now.value
  const needs = useNeeded(store)
  const { root } = store
  // Events that have not come yet change no node.
  if (!root) void store.frame.value
  if (!root) return null
  const turn = store.use(root).turns.at(-1)
  if (turn) store.use(turn)
  const isWorking = turn !== undefined && isRunning(turn) && !isReleased(page, store.id)
  const status = needs || (turn && isRunning(turn) && !isWorking) ? 'suspended' : isWorking ? 'running' : turn && shownTurnStatus(turn)
  const model = turn?.steps.at(-1)?.attempts.at(-1)?.model ?? root.spec?.models[0]
  const { usage, cost } = spentByTurns(root.turns)
  const agent = page.agents.value.find(({ name, displayName }) => name === root.spec?.name || displayName === root.spec?.name)
  return (
    <>
      {agent ? <a href={hashOf({ view: 'agents', agent: agent.name })}>{root.name}</a> : <span>{root.name}</span>}
      {model !== undefined && <span class="session-model truncate">{/^rehearsal\b/.test(model) ? 'rehearsal (no LLM)' : model}</span>}
      {turn && status && (
        <span class="session-state line">
          <StatusMark status={status} />
          <span aria-hidden="true">
            {status === 'running' ? `running ${workTime(turnTimes(turn, store.now()), elapsed)}` : statusLabel(status)}
          </span>
        </span>
      )}
      {usage.input + usage.output > 0 && (
        <span class="session-totals tone-muted truncate" title="Tokens and cost of the whole session">
          {[tokenWords(usage), price(cost)].filter(Boolean).join(' · ')}
        </span>
      )}
      <span class="visually-hidden" role="status">
        {status && statusLabel(status)}
      </span>
    </>
  )
}
