// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxLent bounds the objects that are remembered; of further ones the next look in turn takes notice.
const maxLent = 10_000

// lent remembers who has an object in Git that another application has applied last: its labels do not lead there when
// it changes or goes.
type lent struct {
	mu      sync.Mutex
	objects map[manifest.Key]map[string]bool // applications by folded key
}

// note remembers the objects of others that a look at an application has found.
func (l *lent) note(application string, found []finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range found {
		if !f.foreign || len(l.objects) >= maxLent {
			continue
		}
		if l.objects == nil {
			l.objects = map[manifest.Key]map[string]bool{}
		}
		key := f.key.Fold()
		if l.objects[key] == nil {
			l.objects[key] = map[string]bool{}
		}
		l.objects[key][application] = true
	}
}

// take returns who has an object in Git, and forgets it: the looks at these applications find it again.
func (l *lent) take(key manifest.Key) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	key = key.Fold()
	applications := slices.Sorted(maps.Keys(l.objects[key]))
	delete(l.objects, key)
	return applications
}

// unowned reports whether the cluster has an object without the marks of an application, which no watch sees: one that
// was made by hand, or that its former application has handed over. What may not be read is taken for missing.
func (w *watched) unowned(ctx context.Context, p place) (bool, error) {
	live, err := w.client.Metadata.Resource(p.gvr).Namespace(p.manifest.GetNamespace()).Get(ctx, p.manifest.GetName(),
		metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return false, nil
	case err != nil:
		return false, err
	}
	return live.Labels[manifest.LabelApplication] == "" && live.DeletionTimestamp == nil, nil
}
