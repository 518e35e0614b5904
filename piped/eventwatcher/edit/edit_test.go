// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

type testCase struct{ content, path, value, want string }

func check(t *testing.T, cases map[string]testCase, of func(path string) config.EventReplacement) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Replace([]byte(c.content), of(c.path), c.value)
			if problem, fails := strings.CutPrefix(c.want, "error: "); fails {
				require.ErrorContains(t, err, problem)
				require.Nil(t, got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	const deployment = `# Managed by the shop team.
apiVersion: apps/v1
kind: Deployment
spec:
    replicas: 3   # enough
    template:
        spec:
            containers:
            - name: shop   
              image: "registry.example/shop:v1"   # set by CI

            - {name: side, image: 'side:v1'}
---
kind: Service
`
	in := func(old, new string) string { return strings.Replace(deployment, old, new, 1) }
	check(t, map[string]testCase{
		"double quotes and comments stay": {
			deployment, "$.spec.template.spec.containers[0].image", "shop:v2",
			in("registry.example/shop:v1", "shop:v2"),
		},
		"single quotes stay": {
			deployment, "$.spec.template.spec.containers[1].image", "it's", in("'side:v1'", "'it''s'"),
		},
		"a number stays a number":        {deployment, "$.spec.replicas", "5", in("3 ", "5 ")},
		"a number may become text":       {deployment, "$.spec.replicas", "five: or so", in("3 ", `"five: or so" `)},
		"the same value changes nothing": {deployment, "$.spec.replicas", "3", deployment},
		"every document with the field":  {"a: 1\n---\nb: 1\n---\na: 2\n", "$.a", "9", "a: 9\n---\nb: 1\n---\na: 9\n"},
		"every item":                     {"a: [{b: x}, {b: y}]", "$.a[*].b", "z", "a: [{b: z}, {b: z}]"},
		"any depth": {
			"tag: x\nsub:\n  tag: y\n  other: z\n", "$..tag", "w", "tag: w\nsub:\n  tag: w\n  other: z\n",
		},
		"two ways to one value": {
			strings.Repeat("{a: ", 60) + "x" + strings.Repeat("}", 60),
			"$" + strings.Repeat("..a", 30) + strings.Repeat(".a", 30), "w",
			strings.Repeat("{a: ", 60) + "w" + strings.Repeat("}", 60),
		},
		"a key with dots":                {"a:\n  b.c/d: x\n", "$.a['b.c/d']", "w", "a:\n  b.c/d: w\n"},
		"a key with dots, other form":    {"a:\n  b.c/d: x\n", "$.a.'b.c/d'", "w", "a:\n  b.c/d: w\n"},
		"text that looks like a number":  {"tag: v1\n", "$.tag", "1.10", "tag: \"1.10\"\n"},
		"text that looks like a boolean": {"tag: v1\n", "$.tag", "yes", "tag: \"yes\"\n"},
		"text that looks like a comment": {"tag: v1\n", "$.tag", "a #b", "tag: \"a #b\"\n"},
		"text with a colon stays plain":  {"image: a:v1\n", "$.image", "a:v2", "image: a:v2\n"},
		"text with a comma in brackets":  {"a: [x, y]\n", "$.a[0]", "p, q", "a: [\"p, q\", y]\n"},
		"several lines":                  {"a: x\n", "$.a", "p\nq", "a: \"p\\nq\"\n"},
		"several lines in single quotes": {"a: 'x'\n", "$.a", "p\nq", "a: \"p\\nq\"\n"},
		"an empty value":                 {"a:\nb: x\n", "$.a", "new", "a: new\nb: x\n"},
		"an empty value at the end":      {"a:", "$.a", "new", "a: new"},
		"made empty":                     {"a: x\n", "$.a", "", "a: \"\"\n"},
		"escapes in double quotes":       {`a: "x\"y\\"` + "\nb: 1\n", "$.a", `p"q`, `a: "p\"q"` + "\nb: 1\n"},
		"a doubled single quote":         {"a: 'x''y' # c\n", "$.a", "z", "a: 'z' # c\n"},
		"tag and anchor stay":            {"a: &v !!str x\nb: *v\n", "$.a", "w", "a: &v !!str w\nb: *v\n"},
		"windows line ends":              {"a: x\r\nb: y\r\n", "$.b", "z", "a: x\r\nb: z\r\n"},
		"characters of several bytes":    {"\ufeffä: {ö: ü, b: x}\n", "$.ä.b", "é", "\ufeffä: {ö: ü, b: é}\n"},
		"quotes over two lines":          {"a: \"x\n  y\"\nb: 1\n", "$.a", "z", "a: \"z\"\nb: 1\n"},
		"alias":                          {"a: &v x\nb: *v\n", "$.b", "y", "error: is an alias"},
		"mapping":                        {"a: {b: c}\n", "$.a", "y", "error: is a mapping"},
		"list":                           {"a: [b]\n", "$.a", "y", "error: is a list"},
		"block of lines":                 {"a: |\n  b\n", "$.a", "y", "error: is a block of lines"},
		"plain over two lines":           {"a: x\n  y\n", "$.a", "z", "error: over several lines"},
		"no such field":                  {"a: x\n", "$.b.c", "z", "error: no such field"},
		"no such item":                   {"a: [x]\n", "$.a[1]", "z", "error: no such field"},
		"not YAML":                       {"a: [x\n", "$.a", "z", "error: not valid YAML"},
		"path without root":              {"a: x\n", "a", "z", `error: has to start with "$"`},
		"path of nothing":                {"a: x\n", "$", "z", "error: names the whole file"},
		"path with an open bracket":      {"a: x\n", "$.a[0", "z", "error: not closed"},
		"path with a wrong number":       {"a: x\n", "$.a[-1]", "z", "error: not the number"},
		"path with an empty name":        {"a: x\n", "$.a.", "z", "error: name is missing"},
	}, func(path string) config.EventReplacement { return config.EventReplacement{YAMLField: path} })
}

func TestJSON(t *testing.T) {
	t.Parallel()
	const task = "{\n\t\"family\" : \"shop\",\n\t\"cpu\": 256, \"on\": true,\n\t\"containers\": [ {\"image\": " +
		"\"a\\u00e9:v1\"}, {\"image\":\"b\"} ]\n}\n"
	in := func(old, new string) string { return strings.Replace(task, old, new, 1) }
	check(t, map[string]testCase{
		"text": {task, "$.containers[0].image", `a<b>"c"`, in(`"a\u00e9:v1"`, `"a<b>\"c\""`)},
		"every item": {
			task, "$.containers[*].image", "c", in(`"a\u00e9:v1"}, {"image":"b"`, `"c"}, {"image":"c"`),
		},
		"a number":                 {task, "$.cpu", "512", in("256", "512")},
		"a number that is none":    {task, "$.cpu", "0512", in("256", `"0512"`)},
		"a boolean":                {task, "$.on", "false", in("true", "false")},
		"text that is a number":    {task, "$.family", "1", in(`"shop"`, `"1"`)},
		"the same":                 {task, "$.containers[0].image", "aé:v1", task},
		"no such field":            {task, "$.none", "x", "error: no such field"},
		"list":                     {task, "$.containers", "x", "error: is a list"},
		"not JSON":                 {"{", "$.a", "x", "error: not valid JSON"},
		"something behind the end": {"{\"a\": 1} x", "$.a", "2", "error: not valid JSON"},
		"nested without end":       {strings.Repeat("[", 5000), "$.a", "2", "error: nested more than"},
	}, func(path string) config.EventReplacement { return config.EventReplacement{JSONField: path} })
}

func TestHCL(t *testing.T) {
	t.Parallel()
	const terraform = `# The shop.
locals {
  version = "v1"   # set by CI
  images  = { app = "a:v1", "side.car" = "b" }
  count   = 2
  zones   = ["a", ("b")]
  derived = "${local.version}-x"
  text    = <<-EOT
    lines
  EOT
  empty   = ""
}

locals {
  other = upper("x")
}

resource "aws_instance" "web" {
  ami = "ami-1"
  ingress { port = 80 }
  ingress { port = 443 }
}
`
	in := func(old, new string) string { return strings.Replace(terraform, old, new, 1) }
	check(t, map[string]testCase{
		"attribute":                  {terraform, "locals.version", "v2", in(`"v1"`, `"v2"`)},
		"path with a root":           {terraform, "$.locals.version", "v2", in(`"v1"`, `"v2"`)},
		"labels":                     {terraform, "resource.aws_instance.web.ami", "ami-2", in("ami-1", "ami-2")},
		"key of an object":           {terraform, "locals.images.app", "a:v2", in("a:v1", "a:v2")},
		"key with dots":              {terraform, "locals.images['side.car']", "c", in(`"b" }`, `"c" }`)},
		"item of a list":             {terraform, "locals.zones[1]", "c", in(`("b")`, `("c")`)},
		"number":                     {terraform, "locals.count", "3", in("= 2", "= 3")},
		"number that becomes text":   {terraform, "locals.count", "0x3", in("= 2", `= "0x3"`)},
		"text that is a number":      {terraform, "locals.version", "2", in(`"v1"`, `"2"`)},
		"what looks like a template": {terraform, "locals.version", `${x} "y"`, in(`"v1"`, `"$${x} \"y\""`)},
		"empty text":                 {terraform, "locals.empty", "x", in(`empty   = ""`, `empty   = "x"`)},
		"the same":                   {terraform, "locals.version", "v1", terraform},
		"numbered block": {
			terraform, "resource.aws_instance.web.ingress[1].port", "8443", in("443", "8443"),
		},
		"blocks without a number": {
			terraform, "resource.aws_instance.web.ingress.port", "1", "error: 2 fields of the file match",
		},
		"computed":           {terraform, "locals.derived", "x", "error: computed from others"},
		"call":               {terraform, "locals.other", "x", "error: not a single value"},
		"object":             {terraform, "locals.images", "x", "error: not a single value"},
		"block of lines":     {terraform, "locals.text", "x", "error: block of lines"},
		"no such field":      {terraform, "locals.none", "x", "error: no such field"},
		"no such block":      {terraform, "resource.aws_instance", "x", "error: no such field"},
		"not HCL":            {"a = ", "a", "x", "error: not valid HCL"},
		"nested without end": {"a = " + strings.Repeat("(", 5000), "a", "x", "error: nested more than"},
		"long lines of dashes": {
			strings.Repeat("#"+strings.Repeat("-", 80)+"\n", 100) + "a = 1\n", "a", "2",
			strings.Repeat("#"+strings.Repeat("-", 80)+"\n", 100) + "a = 2\n",
		},
	}, func(path string) config.EventReplacement { return config.EventReplacement{HCLField: path} })
}

func TestRegex(t *testing.T) {
	t.Parallel()
	check(t, map[string]testCase{
		"first group of every match": {
			"v: 1.0 # was 0.9\nv: 1.1\n", `v: ([0-9.]+)`, "2.0", "v: 2.0 # was 0.9\nv: 2.0\n",
		},
		"other groups stay":        {"FROM a:1 AS b", `FROM \w+:(\d+) AS (\w)`, "2", "FROM a:2 AS b"},
		"the same":                 {"v: 1\n", `v: (\d)`, "1", "v: 1\n"},
		"a dollar is no reference": {"v: 1\n", `v: (\d)`, "$1", "v: $1\n"},
		"lines":                    {"a\nb x\n", `(?m)^b (.*)$`, "y", "a\nb y\n"},
		"no match":                 {"v", `x(y)`, "1", "error: matches nothing"},
		"group without part":       {"v", `v(y)?`, "1", "error: matches nothing"},
		"no group":                 {"v", `v`, "1", "error: no group"},
		"no expression":            {"v", `(`, "1", "error: missing closing"},
	}, func(path string) config.EventReplacement { return config.EventReplacement{Regex: path} })
}

func TestAReplacementHasToNameAPlace(t *testing.T) {
	t.Parallel()
	_, err := Replace(nil, config.EventReplacement{}, "x")
	require.ErrorContains(t, err, "names no place")
}

// FuzzReplace looks for panics, and for results that do not hold the value at the place.
func FuzzReplace(f *testing.F) {
	for _, content := range []string{"a: {b: [x, 'y']}\n", `{"a": {"b": [1, "y"]}}`, "a {\n  b = [\"x\", 2]\n}\n",
		"a: &x\n  b: |\n   c\n", "? a\n: - b\n", "\ufeff a: 1"} {
		for kind := range 4 {
			f.Add(content, "$.a.b[1]", "new: value", kind)
			f.Add(content, "$..b", "1.0", kind)
		}
	}
	f.Fuzz(func(t *testing.T, content, path, value string, kind int) {
		if len(content) > 4<<10 || len(value) > 1<<10 || path == "" {
			return
		}
		r := []config.EventReplacement{
			{YAMLField: path}, {JSONField: path}, {HCLField: path}, {Regex: path},
		}[(kind%4+4)%4]
		changed, err := Replace([]byte(content), r, value)
		if err != nil || r.Regex != "" {
			return
		}
		again, err := Replace(changed, r, value)
		require.NoError(t, err)
		require.Equal(t, string(changed), string(again), "a second time changes nothing")
	})
}
