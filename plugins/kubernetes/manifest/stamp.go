// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
)

// Keys of labels and annotations (PipeCD v1).
const (
	LabelManagedBy   = "pipecd.dev/managed-by"
	LabelPiped       = "pipecd.dev/piped"
	LabelApplication = "pipecd.dev/application"
	LabelCommitHash  = "pipecd.dev/commit-hash"

	AnnotationOriginalAPIVersion = "pipecd.dev/original-api-version"
	AnnotationResourceKey        = "pipecd.dev/resource-key"
	AnnotationConfigHash         = "pipecd.dev/config-hash"
	AnnotationOrder              = "pipecd.dev/order"
	AnnotationReplace            = "pipecd.dev/sync-by-replace"
	AnnotationForceReplace       = "pipecd.dev/force-sync-by-replace"

	// AnnotationDeployTarget names the deploy target of an application of many clusters that a resource was applied
	// for. (Not in PipeCD v1.)
	AnnotationDeployTarget = "pipedeck.dev/deploy-target"

	// ManagedByPiped is the value of LabelManagedBy.
	ManagedByPiped = "piped"
	// Enabled is the value that switches an annotation on.
	Enabled = "enabled"
)

// Stamp is what marks a resource as belonging to one application, commit and variant.
type Stamp struct {
	PipedID       string
	ApplicationID string
	CommitHash    string
	VariantKey    string
	Variant       string
	// DeployTarget is empty for an application of one cluster.
	DeployTarget string
}

// Labels are the labels that every manifest gets (PipeCD v1). Pod templates are left alone.
func (s Stamp) Labels() map[string]string {
	return map[string]string{
		LabelManagedBy:   ManagedByPiped,
		LabelPiped:       s.PipedID,
		LabelApplication: s.ApplicationID,
		LabelCommitHash:  s.CommitHash,
		s.VariantKey:     s.Variant,
	}
}

// Apply adds the labels and annotations to the manifests themselves.
func (s Stamp) Apply(manifests []Manifest) {
	for _, m := range manifests {
		labels := s.Labels()
		m.SetLabels(merge(m.GetLabels(), labels))
		annotations := merge(m.GetAnnotations(), labels)
		annotations[AnnotationOriginalAPIVersion] = m.GetAPIVersion()
		annotations[AnnotationResourceKey] = m.Key().String()
		if s.DeployTarget != "" {
			annotations[AnnotationDeployTarget] = s.DeployTarget
		}
		m.SetAnnotations(annotations)
	}
}

// IsElsewhere reports whether a resource was applied for another deploy target: two of them may lead into one cluster.
func IsElsewhere(annotations map[string]string, target string) bool {
	at := annotations[AnnotationDeployTarget]
	return at != "" && target != "" && at != target
}

func merge(base, over map[string]string) map[string]string {
	merged := make(map[string]string, len(base)+len(over))
	maps.Copy(merged, base)
	maps.Copy(merged, over)
	return merged
}
