// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that exclude an object from deletion: ours, and those of Helm, Argo CD and Flux.
const (
	// AnnotationPrune "false" excludes an object; "true" allows the deletion of what came from the crds/ folder of a
	// chart.
	AnnotationPrune = "pipecd.dev/prune"

	annotationHelmPolicy  = "helm.sh/resource-policy"
	annotationArgoOptions = "argocd.argoproj.io/sync-options"
	keyFluxPrune          = "kustomize.toolkit.fluxcd.io/prune"

	// annotationChartCRD marks a definition that came from the crds/ folder of a chart. Its prefix is that of the
	// stamp, so that it is neither drift nor shown in a plan preview.
	annotationChartCRD = "pipecd.dev/chart-crd"
)

// Exclusion returns why an object must not be deleted by pruning, by a rollback or with its variant; empty when nothing
// in its metadata says so.
func Exclusion(o metav1.Object) string {
	annotations := o.GetAnnotations()
	prune := annotations[AnnotationPrune]
	argo := slices.IndexFunc(argoOptions(annotations), excludes)
	switch {
	case prune == "false" || prune == "disabled":
		return "because of its annotation " + AnnotationPrune + ": " + prune
	case strings.EqualFold(strings.TrimSpace(annotations[annotationHelmPolicy]), "keep"):
		return "because of its annotation " + annotationHelmPolicy + ": keep"
	case argo >= 0:
		return "because of its annotation " + annotationArgoOptions + ": " + argoOptions(annotations)[argo]
	case strings.EqualFold(annotations[keyFluxPrune], "disabled"):
		return "because of its annotation " + keyFluxPrune + ": disabled"
	case strings.EqualFold(o.GetLabels()[keyFluxPrune], "disabled"): // Flux reads either
		return "because of its label " + keyFluxPrune + ": disabled"
	case annotations[annotationChartCRD] == "true" && prune != "true":
		return "because it came from the crds/ folder of a chart, and the objects of its kind would go with it " +
			"(to allow that: annotation " + AnnotationPrune + `: "true")`
	}
	return ""
}

// MarkChartCRD notes that a manifest came from the crds/ folder of a chart.
func MarkChartCRD(o metav1.Object) {
	o.SetAnnotations(merge(o.GetAnnotations(), map[string]string{annotationChartCRD: "true"}))
}

// IsChartCRD reports whether an object came from the crds/ folder of a chart.
func IsChartCRD(o metav1.Object) bool { return o.GetAnnotations()[annotationChartCRD] == "true" }

// RemoveExclusion removes from the copy of an object what excludes the original from deletion.
func RemoveExclusion(o metav1.Object) {
	annotations, labels := merge(o.GetAnnotations(), nil), merge(o.GetLabels(), nil)
	delete(annotations, AnnotationPrune)
	delete(annotations, annotationHelmPolicy)
	delete(annotations, keyFluxPrune)
	delete(labels, keyFluxPrune)
	if options := argoOptions(annotations); slices.ContainsFunc(options, excludes) {
		delete(annotations, annotationArgoOptions)
		if options = slices.DeleteFunc(options, excludes); len(options) > 0 {
			annotations[annotationArgoOptions] = strings.Join(options, ",")
		}
	}
	o.SetAnnotations(orNil(annotations))
	o.SetLabels(orNil(labels))
}

func argoOptions(annotations map[string]string) []string {
	return Words(annotations[annotationArgoOptions])
}

// excludes reports whether an option of Argo CD excludes an object from deletion. "confirm" waits for a user whom
// nothing asks here.
func excludes(option string) bool {
	name, value, _ := strings.Cut(option, "=")
	return (name == "Prune" || name == "Delete") && (value == "false" || value == "confirm")
}

func orNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}
