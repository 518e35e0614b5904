// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ignorefield_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/ignorefield"
)

const webObject = "apps/v1:Deployment:shop:web#"

// image is the difference of the image of the second container, which Git has and the cluster, too.
func image() ignorefield.Difference {
	object := func(image string) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{
				map[string]any{"name": "web", "image": "web:1"},
				map[string]any{"name": "side", "image": image, "env": []any{map[string]any{"name": "A", "value": "1"}}},
			},
		}}}}
	}
	return ignorefield.Difference{
		Git: object("side:1"), Live: object("side:2"), Indexed: "spec.template.spec.containers.1.image",
		Parts: []ignorefield.Part{{Name: "spec"}, {Name: "template"}, {Name: "spec"}, {Name: "containers"},
			{Name: "side", InList: true, Index: 1}, {Name: "image"}},
	}
}

func TestARuleIgnoresWhatItNames(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		// As messages print it, and as PipeCD has it.
		"spec.template.spec.containers[side].image": true,
		"spec.template.spec.containers[1].image":    true,
		"spec.template.spec.containers.1.image":     true,
		"spec.template.spec.containers[side]":       true,
		"spec.template":                             true,
		"spec.template.spec.containers[web].image":  false,
		"spec.template.spec.containers[0].image":    false,
		"spec.temp":                                 false,
		// With wildcards.
		"spec.template.spec.containers[*].image":  true,
		"spec.template.spec.containers.*.image":   true,
		"spec.template.spec.containers[si*].im*":  true,
		"spec.*.spec.containers[*].env":           false,
		"spec.template.spec.initContainers[*]":    false,
		"*":                                       true,
		"spec.template.spec.containers[\"side\"]": false, // quotes name a field of a mapping
		// JSON pointers.
		"/spec/template/spec/containers/1/image": true,
		"/spec/template/spec/containers/0/image": false,
		"/spec/template":                         true,
		// Paths of jq.
		".spec.template.spec.containers[].image":                                                     true,
		".spec.template.spec.containers[1].image":                                                    true,
		".spec.template.spec.containers[]?.image?":                                                   true,
		`.spec.template.spec.containers[] | select(.name == "side") | .image`:                        true,
		`.spec.template.spec.containers[] | select(.name=="side") .image`:                            true,
		`.spec.template.spec.containers[] | select(.name == "side").image`:                           true,
		`.spec.template.spec.containers[] | select(.name == "web") | .image`:                         false,
		`.spec.template.spec.containers[] | select(.name != "web")`:                                  true,
		`.spec["template"]."spec".containers[] | select(.image == "side:2")`:                         true,
		`.spec.template.spec.containers[] | select(.image == "side:3")`:                              false,
		`.spec.template.spec.containers[] | select(.name | startswith("si"))`:                        true,
		`.spec.template.spec.containers[] | select(.name | test("^w|x$"))`:                           false,
		`.spec.template.spec.containers[]|select(.name=="a" or .env[0].name=="A")`:                   true,
		`.spec.template.spec.containers[] | select((.name == "side") and (.image | endswith(":9")))`: false,
	} {
		rule, err := ignorefield.Parse(webObject + field)
		require.NoError(t, err, field)
		covered, _, _ := rule.Covers(image())
		require.Equal(t, want, covered, field)
	}
}

func TestARuleForAPartOfAListLeavesTheRest(t *testing.T) {
	t.Parallel()
	rule, err := ignorefield.Parse(`v1:Pod:*:*#.spec.tolerations[] | select(.key == "node")`)
	require.NoError(t, err)
	toleration := func(key string) any { return map[string]any{"key": key} }
	object := func(list ...any) map[string]any { return map[string]any{"spec": map[string]any{"tolerations": list}} }
	live := []any{toleration("a"), toleration("node")}
	covered, rest, below := rule.Covers(ignorefield.Difference{
		Parts: []ignorefield.Part{{Name: "spec"}, {Name: "tolerations"}},
		Git:   object(toleration("a")), Live: object(live...),
	})
	require.False(t, covered)
	require.True(t, below)
	require.Equal(t, []any{toleration("a")}, rest.Without(live))
	require.Len(t, live, 2, "the object itself stays as it is")
	require.True(t, rule.Finds(object(live...)))
	require.False(t, rule.Finds(object(toleration("a"))))
}

func TestARuleNamesObjectsByPatterns(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]bool{
		"apps/v1:Deployment:shop:web":     true,
		"apps/v1:deployment:Shop:WEB":     true,
		"*:Deployment:*:*":                true,
		"apps/*:*:sh*p:w*b*":              true,
		"apps/v1beta1:Deployment:shop:*":  false,
		"apps/v1:Deployment::web":         false,
		"apps/v1:Deployment:default:web":  false,
		"apps/v1:Deployment:shop:w*bb":    false,
		"apps/v1:Deployment:shop:web:web": false,
	} {
		rule, err := ignorefield.Parse(object + "#spec")
		require.NoError(t, err)
		require.Equal(t, want, rule.Matches("apps/v1", "Deployment", "shop", "web"), object)
	}
	rule, err := ignorefield.Parse("rbac.authorization.k8s.io/v1:ClusterRole:default:system:a:b#rules")
	require.NoError(t, err)
	require.True(t, rule.Matches("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:a:b"))
	manager, err := ignorefield.Parse(webObject + "manager=vpa-*")
	require.NoError(t, err)
	require.True(t, manager.MatchesManager("vpa-updater"))
	require.False(t, manager.MatchesManager("kubectl"))
	require.False(t, rule.MatchesManager("kubectl"))
}

func TestAWrongRuleSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"a..b":                                  "a name is missing before a dot",
		"a.":                                    "a name is missing after a dot",
		"a[b":                                   "want [NAME], [NUMBER]",
		`a["b`:                                  "want [NAME], [NUMBER]",
		`a["b"`:                                 "a ] is missing",
		"a[b]c":                                 `want . or [ before "c"`,
		".":                                     "a name is missing after the dot",
		".a[":                                   "column 4: want [], [0]",
		".a |":                                  "want a path such as .spec, or select(…)",
		".a | del(.b)":                          "column 6: want a path such as .spec, or select(…)",
		".a, .b":                                "only paths and select(…) are read here",
		".a[] | select(.b)":                     "want == or != and a value",
		".a[] | select(.b == c)":                "want a text in quotes",
		".a[] | select(.b == \"c\"":             "want ), and, or or",
		".a[] | select(.b | tset())":            "want startswith, endswith, contains or test",
		`.a | select(.b|test("("))`:             "missing closing",
		"manager=":                              "needs the name of a field manager",
		".a | select" + strings.Repeat("(", 30): "too many parentheses",
		strings.Repeat("a", 5000):               "is longer than",
	} {
		_, err := ignorefield.Parse(webObject + field)
		require.ErrorContains(t, err, want, field)
	}
	_, err := ignorefield.Parse("apps/v1:Deployment:web#spec")
	require.ErrorContains(t, err, "is not apiVersion:kind:namespace:name#path")
}

// Whatever stands in a configuration is read or refused, and what is read can be applied to any object.
func FuzzRule(f *testing.F) {
	for _, field := range []string{"spec.template.spec.containers[0].image", "/a/b~1c/0", "manager=kubectl",
		`.spec.containers[] | select(.name=="web" and (.a | test("x.*"))) .image`, `metadata.annotations["a.b/c"]`,
		"*.*"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		rule, err := ignorefield.Parse("*:*:*:*#" + field)
		if err != nil {
			return
		}
		d := image()
		for n := range len(d.Parts) + 1 {
			part := d
			part.Parts = d.Parts[:n]
			covered, rest, below := rule.Covers(part)
			if covered && below {
				t.Fatalf("%q covers a field both as a whole and in part", field)
			}
			if below {
				rest.Without(d.Live)
			}
		}
		live, _ := d.Live.(map[string]any)
		rule.Finds(live)
	})
}
