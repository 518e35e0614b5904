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
}{
	{
		regexp.MustCompile(`exceeded quota: ([^,\s]+), requested: (.+), used: (.+), limited: (.+)`),
		"the ResourceQuota %s has no room: requested %s, used %s, limited to %s",
		"raise the quota, or deploy less to the namespace",
	},
	{
		regexp.MustCompile(`failed quota: ([^:\s]+): must specify (.+)`),
		"the ResourceQuota %s wants every container to have %s",
		"set resources.requests and resources.limits, or add a LimitRange with defaults",
	},
	{
		regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request:? ?(.*)`),
		"the admission webhook %s denied it: %s",
		"change the manifest as the webhook says, or ask who runs it",
	},
	{
		regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`),
		"the admission webhook %s does not answer: %s",
		"fix the service behind it, or remove its webhook configuration",
	},
	{
		regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.*)`),
		"the ValidatingAdmissionPolicy %s denied it: %s",
		"change the manifest as the policy says",
	},
	{
		regexp.MustCompile(`only dynamically provisioned pvc can be resized`),
		"its StorageClass does not let it grow",
		"set allowVolumeExpansion: true in the StorageClass, or take the change back",
	},
	{
		regexp.MustCompile(`violates PodSecurity "([^"]+)": (.*)`),
		"the namespace enforces the pod security level %s: %s",
		"set securityContext as it says, or the namespace's label pod-security.kubernetes.io/enforce",
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
		refused.Reason, refused.Remedy = fmt.Sprintf(a.reason, groups...), a.remedy
		return true
	}
	return false
}
