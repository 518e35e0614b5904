// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// schemaTimeout and maxSchema bound what a refusal asks of the API's description of a group: a name that is
	// suggested is not worth a long wait. The largest group that Kubernetes brings has less than a quarter of that.
	schemaTimeout = 5 * time.Second
	maxSchema     = 16 << 20
)

// item is what a path says of an item of a list.
var item = regexp.MustCompile(`\[[^\]]*\]`)

// openAPI is the part of the API's description of a group that is looked at.
type openAPI struct {
	Components struct {
		Schemas map[string]*openAPISchema `json:"schemas"`
	} `json:"components"`
}

type openAPISchema struct {
	Ref        string                    `json:"$ref"`
	AllOf      []*openAPISchema          `json:"allOf"`
	Properties map[string]*openAPISchema `json:"properties"`
	Items      *openAPISchema            `json:"items"`
	// Open is set where fields without a schema are allowed.
	Open  bool                      `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
}

// fieldsOf asks the API which fields a kind has next to one. Without an answer there are none.
func fieldsOf(ctx context.Context, c *cluster.Client, kind schema.GroupVersionKind) func(path string) []string {
	var api *openAPI
	return func(path string) []string {
		if api == nil {
			api = describeGroup(ctx, c, kind.GroupVersion())
		}
		at := api.of(kind)
		parent := item.ReplaceAllString(manifest.ParentPath(path), "[]")
		for name := range strings.SplitSeq(parent, ".") {
			if parent == "" {
				break
			}
			name, _, inList := strings.Cut(name, "[")
			if at = api.resolve(at); at == nil {
				return nil
			}
			at = at.Properties[name]
			if inList {
				if at = api.resolve(at); at == nil {
					return nil
				}
				at = at.Items
			}
		}
		if at = api.resolve(at); at == nil || at.Open {
			return nil
		}
		return slices.Sorted(maps.Keys(at.Properties))
	}
}

// describeGroup reads the API's description of a group; an empty one where there is none.
func describeGroup(ctx context.Context, c *cluster.Client, gv schema.GroupVersion) *openAPI {
	api := &openAPI{}
	ctx, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	path := "/openapi/v3/apis/" + gv.String()
	if gv.Group == "" {
		path = "/openapi/v3/api/" + gv.Version
	}
	code, body, err := c.Stream(ctx, path, nil)
	if err != nil {
		return api
	}
	defer body.Close()
	if code != http.StatusOK || json.NewDecoder(io.LimitReader(body, maxSchema)).Decode(api) != nil {
		return &openAPI{}
	}
	return api
}

// of is the schema of a kind; nil for none.
func (o *openAPI) of(kind schema.GroupVersionKind) *openAPISchema {
	for _, s := range o.Components.Schemas {
		if slices.Contains(s.Kinds, kind) {
			return s
		}
	}
	return nil
}

// resolve follows references to a schema with fields; nil for none.
func (o *openAPI) resolve(s *openAPISchema) *openAPISchema {
	for range maxReferences {
		switch {
		case s == nil:
			return nil
		case s.Ref != "":
			s = o.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
		case len(s.AllOf) == 1:
			s = s.AllOf[0]
		default:
			return s
		}
	}
	return nil
}

// maxReferences bounds references to references.
const maxReferences = 10
