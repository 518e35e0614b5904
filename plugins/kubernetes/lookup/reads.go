// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// asked is one question; version is the state of what was found, empty for nothing.
type asked struct {
	resource        schema.GroupVersionResource
	namespace, name string
	version         string
}

// Reads are the questions of a View, each once. They do not change any more once the loading has ended.
type Reads struct {
	client *cluster.Client
	asked  []asked
}

func (r *Reads) add(one asked) {
	if !slices.Contains(r.asked, one) {
		r.asked = append(r.asked, one)
	}
}

// pageSize bounds one answer of a list.
const pageSize = 500

// Same reports whether the cluster would still answer the same. It asks for metadata alone. What cannot be asked now
// counts as the same.
func (r *Reads) Same(ctx context.Context) bool {
	if r == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	for _, one := range r.asked {
		if one.resource.Resource == "" {
			continue // a kind that the cluster did not know: the next deployment sees it
		}
		version, err := r.version(ctx, one)
		if err == nil && version != one.version {
			return false
		}
	}
	return true
}

// version is the state of what a question finds now.
func (r *Reads) version(ctx context.Context, one asked) (string, error) {
	resource := r.client.Metadata.Resource(one.resource).Namespace(one.namespace)
	if one.name != "" {
		found, err := resource.Get(ctx, one.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return metadataOf(found.ObjectMeta).String(), nil
	}
	var all strings.Builder
	opts := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := resource.List(ctx, opts)
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, item := range page.Items {
			all.WriteString(metadataOf(item.ObjectMeta).String() + "\n")
		}
		if opts.Continue = page.Continue; opts.Continue == "" {
			return digest(all.String()), nil
		}
	}
}

func metadataOf(o metav1.ObjectMeta) metadata {
	return metadata{Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), ResourceVersion: o.ResourceVersion}
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
