// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"regexp"
)

// admissions are the words of what looks at a request after the permissions: quotas, policies and webhooks.
var admissions = []struct {
	pattern *regexp.Regexp
	// reason gets the groups of the pattern.
	reason, remedy string
	// passes: it may admit the same manifest later.
	passes bool
}{
	{
		pattern: regexp.MustCompile(`exceeded quota: ([^,\s]+), requested: (.+), used: (.+), limited: (.+)`),
		reason:  "the ResourceQuota %s has no room: requested %s, used %s, limited to %s",
		remedy:  "raise the quota, or deploy less to the namespace",
	},
	{
		pattern: regexp.MustCompile(`failed quota: ([^:\s]+): must specify (.+)`),
		reason:  "the ResourceQuota %s wants every container to have %s",
		remedy:  "set resources.requests and resources.limits, or add a LimitRange with defaults",
	},
	{
		pattern: regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request:? ?(.*)`),
		reason:  "the admission webhook %s denied it: %s",
		remedy:  "change the manifest as the webhook says, or ask who runs it",
	},
	{
		pattern: regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`),
		reason:  "the admission webhook %s does not answer: %s",
		remedy:  "fix the service behind it, or remove its webhook configuration",
		passes:  true,
	},
	{
		pattern: regexp.MustCompile(
			`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.*)`),
		reason: "the ValidatingAdmissionPolicy %s denied it: %s",
		remedy: "change the manifest as the policy says",
	},
	{
		pattern: regexp.MustCompile(`only dynamically provisioned pvc can be resized`),
		reason:  "its StorageClass does not let it grow",
		remedy:  "set allowVolumeExpansion: true in the StorageClass, or take the change back",
	},
	{
		pattern: regexp.MustCompile(`violates PodSecurity "([^"]+)": (.*)`),
		reason:  "the namespace enforces the pod security level %s: %s",
		remedy:  "set securityContext as it says, or the namespace's label pod-security.kubernetes.io/enforce",
	},
}

// describeAdmission recognises a refusal by what admits objects.
func describeAdmission(refused *RefusedError, text string) bool {
	for _, a := range admissions {
		found := a.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		var groups []any
		for _, g := range found[1:] {
			groups = append(groups, shorten(g))
		}
		refused.Reason, refused.Remedy, refused.passes = fmt.Sprintf(a.reason, groups...), a.remedy, a.passes
		return true
	}
	return false
}
