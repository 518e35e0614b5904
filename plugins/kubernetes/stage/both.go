// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// bothHave returns what reports whether an object that was another application's is in Git twice at the head of the
// branch: in the application that is deployed, and in that one. What cannot be known is not so. It may be called by
// several goroutines; the applications are loaded when it is first asked about them.
func bothHave(e *Executor, req *Request, c *cluster.Client,
	s *Source) func(context.Context, manifest.Key, string) bool {
	var mu sync.Mutex
	loaded := map[string][]manifest.Key{}
	look := claimLook{Claimed: Claimed{Namespace: c.Namespace}}
	return func(ctx context.Context, object manifest.Key, other string) bool {
		mu.Lock()
		defer mu.Unlock()
		has := func(application string) bool {
			keys, known := loaded[application]
			if !known {
				keys = inGitNow(ctx, e.loader, req, s, application)
				loaded[application] = keys
			}
			return slices.ContainsFunc(keys, func(k manifest.Key) bool { return look.isSame(k, object) })
		}
		return has(other) && has(req.Deployment.Application.ID)
	}
}

// inGitNow are the objects that an application of piped has and applies at the head of the branch; none when that is
// not known.
func inGitNow(ctx context.Context, l *Loader, req *Request, s *Source, application string) []manifest.Key {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	head, err := headNow(ctx, req, s)
	if err != nil {
		return nil
	}
	root := repositoryRoot(head)
	file := ""
	for _, a := range knownApplications(ctx, req) {
		if a.ID == application && a.Repository == req.Deployment.Application.RepositoryID {
			file = a.File
		}
	}
	tree, err := checkout.Open(root)
	if err != nil || file == "" {
		return nil
	}
	data, err := tree.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil
	}
	n := neighbourOf(root, file, data)
	if n == nil {
		return nil
	}
	objects, err := n.objects(ctx, l, req.Targets)
	if err != nil {
		return nil
	}
	var keys []manifest.Key
	for _, o := range objects {
		if o.unapplied == "" {
			keys = append(keys, o.key)
		}
	}
	return keys
}
