// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import "k8s.io/apimachinery/pkg/runtime/schema"

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	replicaSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// made is a kind that controllers make.
type made struct {
	gvr  schema.GroupVersionResource
	kind string
	// bare is set for kinds that are well when they are there; their content, which may be secret, is never read.
	bare bool
}

// childrenOf names the kinds that controllers make from a kind. optional ones are left out when they may not be
// watched.
func childrenOf(kind schema.GroupKind) (children []made, optional bool) {
	switch kind.String() {
	case "Deployment.apps", "Rollout.argoproj.io":
		return []made{{gvr: replicaSets}, {gvr: pods}}, false
	case "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "ReplicationController":
		return []made{{gvr: pods}}, false
	case "CronJob.batch":
		return []made{{gvr: jobs}, {gvr: pods}}, false
	}
	if isCustom(kind.Group) {
		return operated(), true
	}
	return nil, false
}

// childrenIn is childrenOf for an object in a namespace. One of the whole cluster, which has no namespace, may own
// objects anywhere: none of them are watched.
func childrenIn(namespace string, kind schema.GroupKind) (children []made, optional bool) {
	if namespace == "" {
		return nil, false
	}
	return childrenOf(kind)
}

// operated are what operators mostly make of their custom kinds.
func operated() []made {
	of := func(group, resource string) made {
		return made{gvr: schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource}}
	}
	return []made{
		of("apps", "deployments"), {gvr: replicaSets}, of("apps", "statefulsets"), of("apps", "daemonsets"),
		{gvr: jobs}, of("batch", "cronjobs"), {gvr: pods}, of("", "services"), of("", "persistentvolumeclaims"),
		{gvr: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, kind: "ConfigMap", bare: true},
		{gvr: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, kind: "Secret", bare: true},
	}
}
