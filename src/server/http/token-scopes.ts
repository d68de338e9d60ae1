import { type Caller, isAdmin, type Scope } from './caller.ts'
import { HttpError } from './http-error.ts'

export const hasScope = (caller: Caller, scope: Scope): boolean => isAdmin(caller) || caller.scopes.includes(scope)

export function requireScope(caller: Caller, scope: Scope): void {
  if (hasScope(caller, scope)) return
  throw new HttpError('forbidden', `The token lacks the scope "${scope}".`, {
    remedy: `Create one that has it: troupe token create --name NAME --scopes ${scope === 'run' || scope === 'read' ? 'run,read' : `run,read,${scope}`}`,
  })
}
