// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	// maxIgnored bounds the fields that one Event lists.
	maxIgnored = 15
	// tokenVolume begins the name of the volume that the API server adds for the token of the service account.
	tokenVolume = "kube-api-access-"
)

// Patterns of fields that have no effect on processes of this machine: "*" stands for each field or element. Fields are
// left out that say what is so anyway (hostNetwork), or what a cluster of one node does not need (topology), and those
// with an Event of their own (limits).
var (
	ignoredOfPods = []string{
		"securityContext.*", "hostAliases", "dnsConfig", "subdomain", "setHostnameAsFQDN", "runtimeClassName",
		"resourceClaims", "hostUsers", "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
		"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
		"volumes.*.emptyDir.medium", "volumes.*.emptyDir.sizeLimit",
	}
	ignoredOfContainers = []string{
		"securityContext.*", "ports.*.hostPort", "ports.*.hostIP", "tty", "volumeDevices", "restartPolicyRules",
		"lifecycle.stopSignal", "volumeMounts.*.readOnly", "volumeMounts.*.mountPropagation",
		"resources.limits.ephemeral-storage", "resources.claims",
	}
)

// ignoredFields are the paths of fields that the manifest sets and that have no effect here, as in
// "spec.containers[main].securityContext.runAsUser".
func ignoredFields(pod *corev1.Pod) []string {
	var found []string
	add := func(object any, prefix string, patterns []string) {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return // of a type of the API: it cannot fail
		}
		for _, pattern := range patterns {
			found = append(found, matches(fields, prefix, strings.Split(pattern, "."))...)
		}
	}
	add(&pod.Spec, "spec", ignoredOfPods)
	for kind, all := range map[string][]corev1.Container{
		"initContainers": pod.Spec.InitContainers, "containers": pod.Spec.Containers,
	} {
		for i := range all {
			add(&all[i], fmt.Sprintf("spec.%s[%s]", kind, all[i].Name), ignoredOfContainers)
		}
	}
	// The API server itself makes the mount of the token read-only.
	found = slices.DeleteFunc(found, func(path string) bool { return strings.Contains(path, "["+tokenVolume) })
	slices.Sort(found)
	return found
}

// matches returns the paths below prefix that a pattern describes and that have a value.
func matches(value any, prefix string, pattern []string) (found []string) {
	if len(pattern) == 0 {
		return []string{prefix}
	}
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if pattern[0] == name || pattern[0] == "*" {
				found = append(found, matches(field, prefix+"."+name, pattern[1:])...)
			}
		}
	case []any:
		for i, element := range value {
			if pattern[0] == "*" {
				path := fmt.Sprintf("%s[%s]", prefix, keyOf(element, i))
				found = append(found, matches(element, path, pattern[1:])...)
			}
		}
	}
	return found
}

// keyOf names an element of a list by its name, its port or its place.
func keyOf(element any, index int) string {
	if fields, ok := element.(map[string]any); ok {
		for _, key := range []string{"name", "containerPort"} {
			if value, has := fields[key]; has {
				return fmt.Sprint(value)
			}
		}
	}
	return fmt.Sprint(index)
}

// warnOfIgnored records one Event for the fields of the manifest that have no effect here.
func warnOfIgnored(p *pod) {
	fields := ignoredFields(p.now)
	if len(fields) == 0 {
		return
	}
	more := ""
	if len(fields) > maxIgnored {
		more = fmt.Sprintf(" and %d more", len(fields)-maxIgnored)
		fields = fields[:maxIgnored]
	}
	p.event(corev1.EventTypeWarning, "FieldsIgnored", "these fields have no effect on processes of this machine: "+
		strings.Join(fields, ", ")+more)
}
