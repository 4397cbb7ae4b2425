-- The health of a Tenant, an LtiRegistration or a Webhook for Argo CD: all three say by the condition Ready how they are.
-- Argo CD gives the resource as obj and reads the table that is returned. Only Lua's base and table libraries are there.

-- Reasons of Ready=False that pass by themselves.
local progressing = {
  Deleting = true,
  NamespaceTerminating = true,
  NamespaceUnknown = true,
  Pending = true,
  RollingOut = true,
  TenantDeleting = true,
  WaitingForTenant = true,
}

-- Reasons of Ready=False that a person wanted, or that wait for what only a person has.
local suspended = {
  ClientIdMissing = true,
  ScaledToZero = true,
  Suspended = true,
}

local function health(status, message)
  return { status = status, message = message or '' }
end

local function find(conditions, name)
  for _, condition in ipairs(conditions) do
    if condition.type == name then
      return condition
    end
  end
  return nil
end

if obj.metadata.deletionTimestamp ~= nil then
  return health('Progressing', 'Being deleted')
end
if obj.status == nil or obj.status.conditions == nil then
  return health('Progressing', 'Waiting for the operator')
end

local ready = find(obj.status.conditions, 'Ready')
if ready == nil then
  return health('Progressing', 'Waiting for the operator')
end
-- A condition of an earlier generation says nothing of the present spec.
if ready.observedGeneration ~= nil and obj.metadata.generation ~= nil and ready.observedGeneration ~= obj.metadata.generation then
  return health('Progressing', 'Waiting for the operator to see the change')
end

if ready.status == 'True' then
  return health('Healthy', ready.message)
end
if suspended[ready.reason] then
  return health('Suspended', ready.message)
end
local stalled = find(obj.status.conditions, 'Stalled')
if stalled ~= nil and stalled.status == 'True' then
  return health('Degraded', stalled.message)
end
if ready.status == 'Unknown' or progressing[ready.reason] then
  return health('Progressing', ready.message)
end
return health('Degraded', ready.message)
