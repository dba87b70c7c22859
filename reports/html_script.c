/* html_script.c - the script of report.html: the readout and the zoom, no more
 * SPDX-License-Identifier: MIT
 *
 * The page is complete without it. Everything on a time axis has x in percent
 * of a nested svg, so that zooming is two attributes of that svg. Text reaches
 * the page through textContent only.
 */
#include "html_part.h"

static const char setup[] =
"\"use strict\";\n"
"const all=(s)=>[...document.querySelectorAll(s)];\n"
"const one=(s)=>document.querySelector(s);\n"
"const seconds=(ms)=>(ms/1000).toFixed(3);\n"
"const lanesBox=one(\"[data-lanes]\"),rateBox=one(\"[data-rate]\");\n"
"const boxes=[lanesBox,rateBox].filter(Boolean);\n"
"const dataEl=one(\"#series\"),series=dataEl?JSON.parse(dataEl.textContent)"
":null;\n"
"let view=[0,total],lane=0,now=0;\n"
"// A <title> in an svg is a tooltip too; where there is a readout, keep the\n"
"// name and drop the tooltip.\n"
"for(const b of boxes){const s=b.querySelector(\"svg[role=img]\"),"
"t=s.querySelector(\"title\");\n"
" s.setAttribute(\"aria-label\",t.textContent);"
"s.removeAttribute(\"aria-labelledby\");t.remove();}\n"
"// parts: text, or [text] for what is to stand out\n"
"function say(out,parts){out.replaceChildren(...parts.map((p)=>{\n"
" if(!Array.isArray(p))return p;const b=document.createElement(\"b\");"
"b.textContent=p[0];return b;}));}\n"
"// \"u12[u3s4]c5\": letter and ms, a mixed run in brackets\n"
"function parse(code){const runs=[];let t=0;\n"
" for(const m of code.matchAll(/\\[([^\\]]*)\\]|([a-z])(\\d+)/g)){\n"
"  if(m[2]){runs.push({from:t,to:t+=Number(m[3]),what:m[2]});continue;}\n"
"  const mix={};let sum=0;\n"
"  for(const q of m[1].matchAll(/([a-z])(\\d+)/g)){mix[q[1]]=Number(q[2]);"
"sum+=Number(q[2]);}\n"
"  runs.push({from:t,to:t+=sum,mix});}\n"
" return runs;}\n"
"const lanes=all(\".lane\").map((g)=>({y:Number(g.dataset.y),"
"name:g.dataset.n,host:g.dataset.h,runs:parse(g.dataset.l)}));\n";

static const char readout[] =
"function cross(){const x=100*(now-view[0])/(view[1]-view[0]);\n"
" for(const b of boxes){const c=b.querySelector(\".cross\");\n"
"  b.classList.toggle(\"on\",x>=0&&x<=100);"
"c.setAttribute(\"x1\",x+\"%\");c.setAttribute(\"x2\",x+\"%\");}\n"
" if(!rateBox||!series)return;\n"
" const i=Math.max(0,Math.min(series.rate.length-1,"
"Math.round(now/series.step)));\n"
" const base=series.base[i];\n"
" say(one(\"[data-for=rate]\"),[[seconds(now)+\" s\"],\": new steps \","
"[series.rate[i]+\" \"+series.unit],\n"
"  series.again[i]?\", done again \"+series.again[i]:\"\",\n"
"  base===undefined?\"\":\", baseline \"+base,\", highest step \","
"[String(series.high[i])]]);}\n"
"function show(i,t){const l=lanes[i];if(!l)return;lane=i;now=t;\n"
" const r=l.runs.find((x)=>x.from<=t&&t<x.to)||l.runs.at(-1);\n"
" const out=[[l.name],l.host?\" on \"+l.host:\"\",\" at \"+seconds(t)+\" s: \"];\n"
" if(!r)out.push(\"nothing known\");\n"
" else if(r.what)out.push([names[r.what]]);\n"
" else for(const [k,v] of Object.entries(r.mix))"
"out.push([names[k]],\" \"+seconds(v)+\" s  \");\n"
" if(r)out.push(\", \"+seconds(r.from)+\" to \"+seconds(r.to)+\" s, \","
"[seconds(r.to-r.from)+\" s\"]);\n"
" say(one(\"[data-for=lanes]\"),out);cross();}\n"
"function at(box,e){const r=box.getBoundingClientRect();\n"
" return view[0]+(view[1]-view[0])*Math.max(0,Math.min(1,"
"(e.clientX-r.left)/r.width));}\n";

static const char events[] =
"if(lanesBox){\n"
" lanesBox.addEventListener(\"pointermove\",(e)=>{\n"
"  const y=e.clientY-lanesBox.getBoundingClientRect().top;\n"
"  show(Math.max(0,lanes.findLastIndex((l)=>l.y<=y)),at(lanesBox,e));});\n"
" lanesBox.addEventListener(\"keydown\",(e)=>{\n"
"  const runs=lanes[lane].runs;"
"let i=Math.max(0,runs.findLastIndex((r)=>r.from<=now));\n"
"  if(e.key===\"ArrowRight\")i=Math.min(i+1,runs.length-1);\n"
"  else if(e.key===\"ArrowLeft\")i=Math.max(i-1,0);\n"
"  else if(e.key===\"ArrowDown\")lane=Math.min(lane+1,lanes.length-1);\n"
"  else if(e.key===\"ArrowUp\")lane=Math.max(lane-1,0);else return;\n"
"  show(lane,e.key===\"ArrowDown\"||e.key===\"ArrowUp\"?now:runs[i].from);"
"e.preventDefault();});}\n"
"if(rateBox){\n"
" rateBox.addEventListener(\"pointermove\",(e)=>{now=at(rateBox,e);cross();});"
"\n rateBox.addEventListener(\"keydown\",(e)=>{\n"
"  const d=e.key===\"ArrowRight\"?1:e.key===\"ArrowLeft\"?-1:0;if(!d)return;\n"
"  now=Math.max(0,Math.min(total,now+d*series.step));cross();"
"e.preventDefault();});}\n"
"for(const b of boxes)b.addEventListener(\"pointerleave\",()=>{\n"
" if(document.activeElement!==b)"
"for(const x of boxes)x.classList.remove(\"on\");});\n"
"for(const r of all(\".range\")){r.hidden=false;"
"r.addEventListener(\"change\",(e)=>{\n"
" view=e.target.value.split(\",\").map(Number);"
"const w=total/(view[1]-view[0]);\n"
" for(const z of all(\".zoom\")){z.setAttribute(\"width\",100*w+\"%\");"
"z.setAttribute(\"x\",-100*w*view[0]/total+\"%\");}\n"
" for(const i of all(\".range input\"))i.checked=i.value===e.target.value;\n"
" for(const b of boxes){b.classList.toggle(\"zoomed\",w>1.5);"
"b.classList.remove(\"on\");}});}\n"
"addEventListener(\"beforeprint\",()=>{"
"for(const d of all(\"details\"))d.open=true;});\n";

void drill_html_script(struct html *h)
{
	if (!h->trial || !(h->wall > 0))
		return;
	put(h, "<script>\n(()=>{const total=%.0f,names={", h->wall * 1000);
	for (int c = 0; c < CATS; c++)
		put(h, "%s%c:\"%s\"", c ? "," : "", drill_cats[c].letter,
		    drill_cats[c].name);
	put(h, "};\n%s%s%s})();\n</script>\n", setup, readout, events);
}
