// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
)

// candidate is an application together with what Git says of it, for one pass.
type candidate struct {
	application *model.Application
	repository  *repository
	snapshot    snapshot
	// config is nil when err says why the application cannot be deployed.
	config *config.Application
	err    error
	// deployed is set when this pass has created a deployment.
	deployed bool
}

// candidates are the applications whose repository could be read, in the control plane's order.
func (t *Trigger) candidates() []*candidate {
	var list []*candidate
	for _, a := range t.applications.list {
		id := a.GetGitPath().GetRepo().GetId()
		now, known := t.snapshots[id]
		if !known || now.head.Hash == "" {
			continue
		}
		c := &candidate{application: a, repository: t.repositories[id], snapshot: now}
		switch f := now.files[configFileOf(a)]; {
		case f == nil:
			c.err = fmt.Errorf(
				"%s is not in Git any more, at commit %s of branch %s, so nothing deploys the application: add the "+
					"file again, or delete the application with: pipectl application delete --app-id %s",
				configFileOf(a), now.head.Hash, c.repository.git.Branch(), a.GetId(),
			)
		case f.err != nil:
			c.err = f.err
		default:
			c.config = f.application
		}
		list = append(list, c)
	}
	return list
}

// Configured is an application whose configuration at the head of its branch can be used.
type Configured struct {
	ID, Name string
	// Unread are the keys that nothing reads. The application is deployed as if they were not there.
	Unread config.Errors
}

func configured(candidates []*candidate) (list []Configured) {
	for _, c := range candidates {
		if c.config != nil {
			list = append(list, Configured{c.application.GetId(), c.application.GetName(), c.config.Unread})
		}
	}
	return list
}

func find(candidates []*candidate, application string) *candidate {
	i := slices.IndexFunc(candidates, func(c *candidate) bool { return c.application.GetId() == application })
	if i < 0 {
		return nil
	}
	return candidates[i]
}
