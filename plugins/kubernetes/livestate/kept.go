// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import "strings"

// keptAnnotations are those whose values are Kubernetes' own, even where Git has one, as in manifests read from
// a cluster. The API server writes that of a DaemonSet, and those of an autoscaler in v1, already when an apply is only
// tried.
var keptAnnotations = map[string]bool{
	"deprecated.daemonset.template.generation":         true,
	annotationConditions:                               true,
	"autoscaling.alpha.kubernetes.io/current-metrics":  true,
	"endpoints.kubernetes.io/last-change-trigger-time": true,
	"control-plane.alpha.kubernetes.io/leader":         true,
	"batch.kubernetes.io/job-tracking":                 true,
}

// isKept reports whether an annotation belongs to Kubernetes: one of the list, or of the controller of Deployments, as
// their revision.
func isKept(annotation string) bool {
	return keptAnnotations[annotation] || strings.HasPrefix(annotation, "deployment.kubernetes.io/")
}
