// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"regexp"

	"github.com/pipedeck/pipedeck/api/model"
)

// applicationID is how plugins, which know no names, write an application in their reasons.
var applicationID = regexp.MustCompile(`\bthe application [0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// named replaces the ids of applications in a reason by their names. Ids that are not registered stay.
func (x *applicationIndex) named(reason string) string {
	return applicationID.ReplaceAllStringFunc(reason, func(found string) string {
		const words = len("the application ")
		one, err := x.find(found[words:])
		if err != nil || one.model.GetName() == "" {
			return found
		}
		return found[:words] + one.model.GetName()
	})
}

// nameApplications is named for what is said of the health of resources.
func nameApplications(a *Applications, resources []*model.ResourceState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range resources {
		r.HealthDescription = a.index.named(r.GetHealthDescription())
	}
}
