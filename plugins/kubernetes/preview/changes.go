// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// contextLines stand around what changes.
	contextLines = 3
	// maxDetails bounds what is shown of a target, in bytes: a PipeCD piped takes answers of 4 MiB.
	maxDetails = 1 << 20
	// maxLeft bounds the objects that are named as left alone.
	maxLeft = 20

	hidden = "******"
)

// changes is what would happen in a cluster.
type changes struct {
	add, change, remove int
	// hooks is how many hooks would run.
	hooks int
	// stuck are the changed objects that have a field which cannot be changed.
	stuck   int
	objects []string
	// unapplied are objects that are in the commit and that the deployment would not apply.
	unapplied []manifest.Key
	// left are objects that are not in the commit and stay.
	left  []manifest.Key
	notes []string
}

func (c *changes) none() bool { return c.add+c.change+c.remove+c.hooks == 0 }

// applied notes what an apply would do.
func (c *changes) applied(t apply.Trial, applicationID string) {
	key := t.Manifest.Key()
	if t.Live == nil {
		c.added(key, t.Manifest.Unstructured)
		return
	}
	note := ""
	if owner := t.Live.GetLabels()[manifest.LabelApplication]; owner != applicationID {
		note = "# it is not this application's so far, and would be taken over"
	}
	before := t.Live
	if t.Recreate {
		note = "# it would be deleted and created again"
		before = t.Live.DeepCopy()
		before.Object, _ = within(t.Live.Object, t.After.Object).(map[string]any)
	}
	c.changed(key, before, t.After, note)
}

// immutable notes an object that the deployment could not change in place, compared with what Git says.
func (c *changes) immutable(t apply.Trial, refusal *apply.RefusedError) {
	before := t.Live.DeepCopy()
	before.Object, _ = within(t.Live.Object, t.Manifest.Object).(map[string]any)
	note := "# the deployment would fail here: " + strings.ReplaceAll(refusal.Reason, "\n", " ")
	if refusal.Remedy != "" {
		note += "\n# " + refusal.Remedy
	}
	if c.put(t.Manifest.Key(), "changed", note, before, t.Manifest.Unstructured) {
		c.change++
		c.stuck++
	}
}

func (c *changes) added(key manifest.Key, after *unstructured.Unstructured) {
	c.add++
	c.put(key, "added", "", nil, after)
}

func (c *changes) removed(key manifest.Key, before *unstructured.Unstructured) {
	c.remove++
	c.put(key, "deleted", "", before, nil)
}

// kept notes an object that is not in the commit and that pruning leaves alone.
func (c *changes) kept(key manifest.Key, reason string) {
	c.notes = append(c.notes, key.Human()+" would be kept, "+reason)
}

func (c *changes) changed(key manifest.Key, before, after *unstructured.Unstructured, note string) {
	if c.put(key, "changed", note, before, after) {
		c.change++
	}
}

// put shows one object; false when there is nothing to show.
func (c *changes) put(key manifest.Key, what, note string, before, after *unstructured.Unstructured) bool {
	was, is := shown(before), shown(after)
	hideSecrets(was, is)
	diff := unified(text(was), text(is))
	if diff == "" {
		return false
	}
	var b strings.Builder
	// PipeCD v1: the form of this line.
	fmt.Fprintf(&b, "# %d. name=%q, kind=%q, namespace=%q, apiGroup=%q (%s)\n", len(c.objects)+1, key.Name, key.Kind,
		key.Namespace, key.Group, what)
	if note != "" {
		b.WriteString(note + "\n")
	}
	b.WriteString("\n" + diff)
	c.objects = append(c.objects, b.String())
	return true
}

// render returns the summary in PipeCD v1's form, and the details.
func (c *changes) render() (summary, details string) {
	summary = fmt.Sprintf("%d added manifests, %d changed manifests, %d deleted manifests", c.add, c.change, c.remove)
	if c.stuck > 0 {
		summary += fmt.Sprintf("; %d cannot be changed in place and must be replaced", c.stuck)
	}
	switch c.hooks {
	case 0:
	case 1:
		summary += "; 1 hook would run"
	default:
		summary += fmt.Sprintf("; %d hooks would run", c.hooks)
	}
	var b bytes.Buffer
	for _, note := range c.notes {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	if len(c.left) > 0 {
		summary += fmt.Sprintf("; %d that are not in Git any more stay", len(c.left))
		b.WriteString("# These are not in Git any more and stay in the cluster, since prune is off:\n")
		for i, key := range c.left {
			if i == maxLeft {
				fmt.Fprintf(&b, "#   and %d more\n", len(c.left)-i)
				break
			}
			fmt.Fprintf(&b, "#   %s\n", key.Human())
		}
	}
	for i, object := range c.objects {
		if b.Len()+len(object) > maxDetails {
			fmt.Fprintf(&b, "# %d more objects are not shown\n", len(c.objects)-i)
			break
		}
		b.WriteString(object)
	}
	return summary, b.String()
}

// unified is what stands behind the two lines with the names of files.
func unified(before, after string) string {
	if before == after {
		return ""
	}
	diff, err := udiff.ToUnified("a", "b", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return "" // edits that were just made fit
	}
	_, diff, _ = strings.Cut(diff, "\n")
	_, diff, _ = strings.Cut(diff, "\n")
	return diff
}

func text(object map[string]any) string {
	if object == nil {
		return ""
	}
	written, err := manifest.Text(object)
	if err != nil {
		return fmt.Sprintln(object) // what came from JSON can be written as YAML
	}
	return written
}

// serverFields of metadata are the API's own.
var serverFields = []string{"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink"}

const (
	stampPrefix = "pipecd.dev/"
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// shown is a copy of the part of an object that Git decides about, without what each deployment stamps on it.
func shown(o *unstructured.Unstructured) map[string]any {
	if o == nil {
		return nil
	}
	object := o.DeepCopy().Object
	delete(object, "status")
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range serverFields {
		delete(metadata, field)
	}
	for _, field := range []string{"labels", "annotations"} {
		values, _ := metadata[field].(map[string]any)
		maps.DeleteFunc(values, func(name string, _ any) bool {
			return name == lastApplied || strings.HasPrefix(name, stampPrefix) && name != manifest.AnnotationReplace &&
				name != manifest.AnnotationForceReplace && name != manifest.AnnotationOrder &&
				name != manifest.AnnotationPrune
		})
		if len(values) == 0 {
			delete(metadata, field)
		}
	}
	return object
}

// hideSecrets leaves of the values of a Secret whether they are the same on both sides.
func hideSecrets(before, after map[string]any) {
	was, is := secretData(before), secretData(after)
	for key, value := range was {
		other, both := is[key]
		switch {
		case !both || value == other:
			was[key] = hidden
			if both {
				is[key] = hidden
			}
		default:
			was[key], is[key] = hidden+" (before)", hidden+" (after)"
		}
	}
	for key := range is {
		if _, both := was[key]; !both {
			is[key] = hidden
		}
	}
}

// secretData returns the values of a Secret in the form of the API, nil of anything else, and puts them where the API
// does.
func secretData(object map[string]any) map[string]any {
	if object["kind"] != manifest.KindSecret || object["apiVersion"] != "v1" {
		return nil
	}
	data, _ := object["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	written, _ := object["stringData"].(map[string]any)
	for key, value := range written {
		data[key] = base64.StdEncoding.EncodeToString(fmt.Append(nil, value))
	}
	delete(object, "stringData")
	delete(object, "data") // whatever it is
	if len(data) > 0 {
		object["data"] = data
	}
	return data
}

// within is the part of the live value that the wanted one speaks of.
func within(live, wanted any) any {
	switch wanted := wanted.(type) {
	case map[string]any:
		from, ok := live.(map[string]any)
		if !ok {
			return live
		}
		part := map[string]any{}
		for key, value := range wanted {
			if found, ok := from[key]; ok {
				part[key] = within(found, value)
			}
		}
		return part
	case []any:
		from, ok := live.([]any)
		if !ok {
			return live
		}
		part := make([]any, 0, len(from))
		for i, value := range from {
			if i < len(wanted) {
				value = within(value, wanted[i])
			}
			part = append(part, value)
		}
		return part
	}
	return live
}
