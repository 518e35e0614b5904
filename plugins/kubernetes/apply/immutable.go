// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// immutable returns the fields of the manifest that differ from the live object where the API takes no change. Without
// them it is the field that the API names, which may be the whole spec.
func immutable(cause metav1.StatusCause, m manifest.Manifest, ask inquiry) []problem {
	remedy := replaceRemedy(m)
	var problems []problem
	for _, d := range differences(cause, m, ask) {
		text := "cannot be changed in place"
		if !d.secret {
			text += ": " + d.live + " in the cluster, " + d.wanted + " in Git"
		}
		problems = append(problems, problem{path: d.path, text: text, remedy: remedy})
	}
	if len(problems) == 0 {
		text := "cannot be changed in place"
		if named := withoutValue(cause.Message); !strings.HasSuffix(named, "field is immutable") {
			text += ": " + named
		}
		problems = append(problems, problem{path: normalPath(cause.Field), text: text, remedy: remedy})
	}
	return problems
}

// replaceRemedy is what to do about a change that an object does not take. Replacing costs more for some kinds.
func replaceRemedy(m manifest.Manifest) string {
	force := fmt.Sprintf("to delete and create it again, set metadata.annotations[%q]: %s in the manifest",
		manifest.AnnotationForceReplace, manifest.Enabled)
	switch kind := m.GetKind(); kind {
	case "PersistentVolumeClaim", "PersistentVolume":
		return "take the change back, or create a " + kind + " with a new name and copy the data: deleting this one " +
			"may delete its data"
	case manifest.KindStatefulSet:
		return force + " (its pods go with it, its claims stay as they are); or give it a new name"
	case manifest.KindDeployment, manifest.KindDaemonSet, manifest.KindReplicaSet, "Job", "Pod":
		return force + " (its pods go with it); or give it a new name"
	case manifest.KindConfigMap, manifest.KindSecret:
		return "give it a new name; or " + force
	case "StorageClass":
		return force + " (volumes that exist stay as they are); or give it a new name"
	}
	return force + "; or give it a new name"
}

// difference is a field with another value in the cluster than in Git.
type difference struct {
	path, live, wanted string
	// secret values are not shown.
	secret bool
}

// differences compares the manifest with the live object below the field that a refusal names.
func differences(cause metav1.StatusCause, m manifest.Manifest, ask inquiry) []difference {
	if ask.live == nil {
		return nil
	}
	live := ask.live()
	if live == nil {
		return nil
	}
	path := normalPath(cause.Field)
	top := path
	for top != "" && m.Value(top) == nil {
		top = manifest.ParentPath(top)
	}
	if top == "" {
		return nil
	}
	c := comparison{except: changeable(cause.Message), secret: m.Is(manifest.KindSecret)}
	c.compare(top, manifest.ValueAt(live.Object, top), m.Value(top))
	if named := lastName(path); top != path { // such as clusterIPs, of which the manifest has clusterIP
		meant := slices.DeleteFunc(slices.Clone(c.found), func(d difference) bool {
			return !strings.HasPrefix(named, lastName(d.path))
		})
		if len(meant) > 0 {
			return meant
		}
	}
	return c.found
}

// lastName is the last field of a path.
func lastName(path string) string {
	path, _, _ = strings.Cut(path[strings.LastIndex(path, ".")+1:], "[")
	return path
}

// listed are the fields in a sentence such as "fields other than 'replicas', 'template'".
var listed = regexp.MustCompile("['`]([\\w.*\\[\\]]+)['`]")

// changeable are the fields below spec that a refusal names as those which can be changed.
func changeable(message string) map[string]bool {
	_, names, found := strings.Cut(message, "fields other than")
	if !found {
		return nil
	}
	except := map[string]bool{}
	for _, name := range listed.FindAllStringSubmatch(names, -1) {
		except["spec."+strings.TrimPrefix(name[1], "spec.")] = true
	}
	return except
}

// comparison collects differences. Fields that only the live object has are defaults, mostly, and none; only where a
// mapping holds entries of the user's alone do they count.
type comparison struct {
	found  []difference
	except map[string]bool
	secret bool
}

// number is that of an item in a path.
var number = regexp.MustCompile(`\[\d+\]`)

func (c *comparison) compare(path string, live, wanted any) {
	if wanted == nil || c.except[number.ReplaceAllString(path, "[*]")] {
		return
	}
	switch wanted := wanted.(type) {
	case map[string]any:
		was, is := live.(map[string]any)
		if !is {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			c.compare(path+"."+name, was[name], wanted[name])
		}
		if !holdsEntries(path) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if _, has := wanted[name]; !has {
				c.add(path+"."+name, was[name], nil)
			}
		}
		return
	case []any:
		was, is := live.([]any)
		if !is || len(was) != len(wanted) {
			break
		}
		for i := range wanted {
			c.compare(fmt.Sprintf("%s[%d]", path, i), was[i], wanted[i])
		}
		return
	default:
		if same(live, wanted) {
			return
		}
	}
	c.add(path, live, wanted)
}

// holdsEntries reports whether the fields of a mapping are entries of the user's.
func holdsEntries(path string) bool {
	switch lastName(path) {
	case "matchLabels", "parameters", "data":
		return true
	}
	return false
}

func (c *comparison) add(path string, live, wanted any) {
	c.found = append(c.found, difference{path: path, live: brief(live), wanted: brief(wanted),
		secret: c.secret && path != "type"})
}

// same reports whether two values are the same, also as quantities: the API writes some in another form.
func same(a, b any) bool {
	left, right := fmt.Sprint(a), fmt.Sprint(b)
	if left == right {
		return true
	}
	x, err := resource.ParseQuantity(left)
	y, err2 := resource.ParseQuantity(right)
	return cmp.Or(err, err2) == nil && x.Cmp(y) == 0
}

// maxValue bounds a value in a sentence, in bytes.
const maxValue = 60

// brief is a value for a sentence.
func brief(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "a map"
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case string:
		if len(v) > maxValue {
			v = strings.ToValidUTF8(v[:maxValue], "") + "…"
		}
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(value)
}
