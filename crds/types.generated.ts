// Made by `node hack/crd-types.ts` from the schemas beside it; do not edit.
import type { V1ObjectMeta } from '@kubernetes/client-node';

/** An LtiRegistration lets one learning management system launch into a tenant of the same namespace. */
export interface LtiRegistration {
  apiVersion: 'carrel.dev/v1alpha1';
  kind: 'LtiRegistration';
  metadata: V1ObjectMeta & { name: string; namespace: string; uid: string };
  spec: LtiRegistrationSpec;
  status?: LtiRegistrationStatus;
}

export const LTIREGISTRATIONS = { group: 'carrel.dev', version: 'v1alpha1', plural: 'ltiregistrations', kind: 'LtiRegistration', namespaced: true } as const;

export interface LtiRegistrationSpec {
  tenantRef: {
    name: string;
  };
  platform: {
    preset: 'moodle' | 'canvas' | 'blackboard' | 'brightspace' | 'sakai' | 'generic';
    issuer: string;
    /** What people call the LMS; the condition Ready and its Event show it. */
    name?: string;
    authEndpoint?: string;
    tokenEndpoint?: string;
    jwksEndpoint?: string;
    /** The aud of a service token request where the LMS wants another than its token endpoint. */
    tokenAudience?: string;
    /** Further origins that may frame the tool. */
    frameAncestors?: string[];
  };
  /** What the LMS calls the tool. Left out until the LMS has made it: Accepted=False, ClientIdMissing. */
  clientId?: string;
  /** The key that the LMS has for LTI 1.1; clientId when left out. Not used yet. */
  consumerKey?: string;
  deploymentIds?: string[];
  /** Listed: deploymentIds alone may launch. Confirm: others wait until an administrator admits them, by REST or in deploymentIds. */
  deploymentPolicy: 'Listed' | 'Confirm';
  toolUrl?: string;
  scope: string;
  active: boolean;
  /** How the answer to a deep linking request goes to the LMS; by the preset when left out. */
  deepLinkingResponseMode?: 'Query' | 'FormPost';
  /** A private key of your own (PEM, RSA 2048 or more) in place of a generated one: any such key in any Secret of the namespace. */
  keySecretRef?: {
    name: string;
    key: string;
  };
  /** How long a generated key signs. The next is published a day ahead, the former for a day after. No rotation when left out. */
  keyRotationPeriod?: string;
}

export interface LtiRegistrationStatus {
  observedGeneration?: number;
  conditions?: ({
    type: string;
    status: 'True' | 'False' | 'Unknown';
    observedGeneration?: number;
    lastTransitionTime: string;
    reason: string;
    message: string;
  })[];
  loginInitiationUrl?: string;
  redirectUri?: string;
  launchUrl?: string;
  jwksUrl?: string;
  publicKeyIds?: string[];
  /** With deploymentPolicy Confirm: deployments that wait for an administrator, how many and the newest. */
  waitingDeployments?: {
    count: number;
    ids: string[];
  };
  /** Likewise: those that an administrator has admitted by REST. They may launch beside deploymentIds. */
  admittedDeployments?: {
    count: number;
    ids: string[];
  };
}

/** A Tenant is one institution's own file store and LTI tool, with a schema, keys, storage and a server of its own. */
export interface Tenant {
  apiVersion: 'carrel.dev/v1alpha1';
  kind: 'Tenant';
  metadata: V1ObjectMeta & { name: string; namespace: string; uid: string };
  spec: TenantSpec;
  status?: TenantStatus;
}

export const TENANTS = { group: 'carrel.dev', version: 'v1alpha1', plural: 'tenants', kind: 'Tenant', namespaced: true } as const;

export interface TenantSpec {
  /** The name that people see: on pages, in the title of the API's description, in kubectl get tenants -o wide. */
  displayName?: string;
  /** The short name in addresses, schema and bucket; the resource's name when left out. Immutable. */
  slug?: string;
  /** Host names; <slug>.<base> and lti.<slug>.<base> where the operator has a base domain. */
  hosts?: {
    app?: string;
    lti?: string;
  };
  /** How the tenant's hosts are reached from outside. */
  exposure: {
    type: 'Ingress' | 'Gateway' | 'None';
    ingressClassName?: string;
    /** Only keys on the operator's list. */
    annotations?: Record<string, string>;
    /** The Gateway of the Gateway API to which the tenant's HTTPRoutes attach; without a namespace that of the Tenant. */
    gateway?: {
      name: string;
      namespace?: string;
      /** The listener for the tenant's hosts; any whose host name fits when left out. */
      sectionName?: string;
    };
    tls?: {
      secretName: string;
      /** A ClusterIssuer of cert-manager, which then fills the Secret. */
      clusterIssuer?: string;
    };
  };
  /** Pods of the server; 1 when neither this nor autoscaling is set. */
  replicas?: number;
  /** A HorizontalPodAutoscaler scales the pods between min and max, by the CPU that they use. */
  autoscaling?: {
    min: number;
    max: number;
    /** Of the CPU that the pods request. */
    targetCPUPercent: number;
  };
  resources?: {
    requests?: Record<string, number | string>;
    limits?: Record<string, number | string>;
  };
  /** What the pods get beside what the operator gives them. Keys of labels and annotations, tolerated taints and priority classes must be on lists of the operator. */
  pod?: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    /** Labels that a node must have. */
    nodeSelector?: Record<string, string>;
    tolerations?: ({
      key?: string;
      operator?: 'Equal' | 'Exists';
      value?: string;
      effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
      tolerationSeconds?: number;
    })[];
    affinity?: {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms: ({
            matchExpressions?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
              values?: string[];
            })[];
            matchFields?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
              values?: string[];
            })[];
          })[];
        };
        preferredDuringSchedulingIgnoredDuringExecution?: ({
          weight: number;
          preference: {
            matchExpressions?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
              values?: string[];
            })[];
            matchFields?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
              values?: string[];
            })[];
          };
        })[];
      };
      /** Pods of the Tenant's namespace alone are counted; of this tenant where labelSelector is left out. */
      podAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: ({
          topologyKey: string;
          labelSelector?: {
            matchLabels?: Record<string, string>;
            matchExpressions?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
              values?: string[];
            })[];
          };
        })[];
        preferredDuringSchedulingIgnoredDuringExecution?: ({
          weight: number;
          podAffinityTerm: {
            topologyKey: string;
            labelSelector?: {
              matchLabels?: Record<string, string>;
              matchExpressions?: ({
                key: string;
                operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
                values?: string[];
              })[];
            };
          };
        })[];
      };
      /** Pods of the Tenant's namespace alone are counted; of this tenant where labelSelector is left out. */
      podAntiAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: ({
          topologyKey: string;
          labelSelector?: {
            matchLabels?: Record<string, string>;
            matchExpressions?: ({
              key: string;
              operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
              values?: string[];
            })[];
          };
        })[];
        preferredDuringSchedulingIgnoredDuringExecution?: ({
          weight: number;
          podAffinityTerm: {
            topologyKey: string;
            labelSelector?: {
              matchLabels?: Record<string, string>;
              matchExpressions?: ({
                key: string;
                operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
                values?: string[];
              })[];
            };
          };
        })[];
      };
    };
    /** In place of the operator's own, which spreads over nodes where it can. The tenant's pods are counted where labelSelector is left out. */
    topologySpreadConstraints?: ({
      maxSkew: number;
      topologyKey: string;
      whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
      labelSelector?: {
        matchLabels?: Record<string, string>;
        matchExpressions?: ({
          key: string;
          operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
          values?: string[];
        })[];
      };
      minDomains?: number;
      nodeAffinityPolicy?: 'Honor' | 'Ignore';
      nodeTaintsPolicy?: 'Honor' | 'Ignore';
    })[];
    /** Secrets of the Tenant's namespace. */
    imagePullSecrets?: {
      name: string;
    }[];
    priorityClassName?: string;
  };
  /** Only of repositories on the operator's list; its default when left out. */
  image?: string;
  database: {
    /** A shard of the operator's configuration; the least full when left out. Data are moved to another by carrel tenants move. */
    shard?: string;
    /** Connections of one pod at most. */
    poolSize: number;
  };
  storage: {
    credentialsSecretRef?: {
      name: string;
    };
    bucket?: string;
    prefix?: string;
    /** Bytes a new user may store. */
    defaultUserQuota: number | string;
    /** Bytes of the largest file; no bound but the quota when left out. */
    maxUploadSize?: number | string;
  };
  /** Helper services of the tenant: their base addresses, to which /translate and /optimize are added. Addresses in private networks need the allow-list of the installation (CARREL_EGRESS_ALLOW). */
  helpers?: {
    translateUrl?: string;
    pdfOptimizeUrl?: string;
    pdfTranslateUrl?: string;
    credentialsSecretRef?: {
      name: string;
    };
  };
  limits: {
    requestsPerUserPerMinute: number;
    requestsPerTenantPerMinute: number;
    requestsPerIpPerHour: number;
    /** Bytes that all its people together may store, as they count to quotas: contents, versions, trash and metadata. Left out, only quotas bound them. Below what is stored nothing is deleted, and what would add to it is refused. */
    storage?: number | string;
    /** How many files and folders all its people together may have, those in the trash too, with their versions after the first, share links, tags and tagged files. Left out, only the 500,000 of each person bound them. */
    files?: number;
    /** Bytes that its tables with their indexes may take on the shard, whoever writes the rows. Beyond it the tenant can only be read, until it is raised or the tables are smaller. Measured every five minutes. */
    database: number | string;
  };
  /** How long what is deleted can be restored at least; it goes for ever up to a day later. What is in the trash keeps the time that it had. */
  trashRetention: string;
  /** What is kept of a file's versions. What is beyond it goes for ever within two days; what was replaced before a change goes with the limits of then. */
  versions: {
    /** How many, the current one included. */
    keep: number;
    /** How long after they were replaced. Left out, their age does not matter. */
    days?: number;
  };
  /** What runs regularly (docs/use-the-api.md). It acts as the administrator of `admin`. */
  schedules?: ({
    name: string;
    kind: 'recount_usage' | 'empty_trash' | 'sweep_objects' | 'sweep_uploads' | 'apply_retention' | 'verify_checksums' | 'sync_rosters' | 'export_folder' | 'batch';
    /** Minute, hour, day of month, month, day of week. */
    cron: string;
    /** An IANA name. */
    timeZone: string;
    /** Of batch: the body of POST /batch with a filter. Of export_folder: folder_id and keep. */
    arguments?: Record<string, unknown>;
    active: boolean;
    /** Whether runs that were missed are caught up with a single one. */
    catchUp: boolean;
  })[];
  /** The policy of share links (docs/use-the-api.md). Where it is set, fields that are left out have their defaults, and administrators cannot change the policy; without it they may. */
  shareLinks?: {
    /** False: no share link works, and nobody makes one. */
    enabled: boolean;
    /** Whether a share link needs a password. */
    passwordRequired: boolean;
    /** A share link ends at most so many days after it was made. Left out, it need not end. */
    maxDays?: number;
    /** False: no share link takes uploads into a folder. */
    folderUploads: boolean;
  };
  /** The first administrator. */
  admin?: {
    /** admin@<app host> when left out. */
    email?: string;
    passwordSecretRef?: {
      name: string;
      key: string;
    };
  };
  /** No pods; every request is answered 503; data is kept. */
  suspended: boolean;
  /** What the operator generates for the tenant. */
  credentials?: {
    /** How old a password or key of the tenant becomes at most before it is replaced; never when left out. */
    rotateAfter?: string;
  };
  /** What becomes of the data when the Tenant is deleted. */
  deletionPolicy: 'Retain' | 'Delete';
}

export interface TenantStatus {
  observedGeneration?: number;
  conditions?: ({
    type: string;
    status: 'True' | 'False' | 'Unknown';
    observedGeneration?: number;
    lastTransitionTime: string;
    reason: string;
    message: string;
  })[];
  /** The numeric id in decimal. */
  tenantId?: string;
  /** The newest migration that the tenant's schema has. */
  schemaVersion?: string;
  image?: string;
  appUrl?: string;
  ltiUrl?: string;
  apiUrl?: string;
  replicas?: number;
  readyReplicas?: number;
  /** The pods' label selector for the scale subresource. */
  selector?: string;
  /** What the operator generates for the tenant. */
  credentials?: ({
    name: 'database' | 'redis' | 'storage' | 'signing' | 'data';
    /** When its newest value was made. */
    changedAt: string;
    /** Of the rotation that runs; left out when none does. */
    step?: string;
  })[];
  /** What the annotation carrel.dev/rotate said when it was followed last. With a mark the same value is not followed again. */
  rotation?: {
    /** The whole value, such as redis/2026-09-01. */
    request: string;
    at: string;
  };
  /** Counted once an hour. */
  usage?: {
    users?: number;
    files?: number;
    /** Bytes that count to quotas. */
    bytes?: number;
    /** Files and folders, those in the trash too, with versions after the first, share links, tags and tagged files. */
    entries?: number;
    /** Bytes of its tables with their indexes. */
    databaseBytes?: number;
    /** What databaseBytes was when the tenant could first only be read, while it is beyond spec.limits.database. */
    readOnlyFromBytes?: number;
  };
}

/** A Webhook tells a receiver what happened in a tenant of the same namespace. */
export interface Webhook {
  apiVersion: 'carrel.dev/v1alpha1';
  kind: 'Webhook';
  metadata: V1ObjectMeta & { name: string; namespace: string; uid: string };
  spec: WebhookSpec;
  status?: WebhookStatus;
}

export const WEBHOOKS = { group: 'carrel.dev', version: 'v1alpha1', plural: 'webhooks', kind: 'Webhook', namespaced: true } as const;

export interface WebhookSpec {
  tenantRef: {
    name: string;
  };
  url: string;
  events: ('file.created' | 'file.updated' | 'file.deleted' | 'user.created' | 'user.updated' | 'grade.submitted')[];
  /** The signing secret; made in Secret <name>-webhook when left out. */
  secretRef?: {
    name: string;
    key: string;
  };
  active: boolean;
  /** Further headers of each delivery. */
  headers?: Record<string, string>;
}

export interface WebhookStatus {
  observedGeneration?: number;
  conditions?: ({
    type: string;
    status: 'True' | 'False' | 'Unknown';
    observedGeneration?: number;
    lastTransitionTime: string;
    reason: string;
    message: string;
  })[];
  /** uuid of the endpoint in the REST API. */
  endpointId?: string;
  lastDeliveryTime?: string;
  lastStatusCode?: number;
  failingSince?: string;
  disabledReason?: string;
}
